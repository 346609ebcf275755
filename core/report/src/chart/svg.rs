//! Charts as SVG: title and description for screen readers, no script, colours that follow the reader's scheme.
//!
//! Series differ in colour, marker and dash, so that none of the three is needed alone.

use super::plot::{Chart, Point, Series, Shape, Unit};
use closeread_table::number;
use closeread_table::render::html::{escaped, id};
use closeread_table::render::text;

/// Width in the units of the drawing: small enough to be read when it is scaled to a telephone.
const WIDTH: f64 = 420.0;
/// Room for the numbers of the vertical axis.
const LEFT: f64 = 38.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 22.0;
/// Height of the plot of a chart with lines.
const PLOT: f64 = 200.0;
/// Height of a line of the legend.
const LEGEND_LINE: f64 = 18.0;
/// Distance between the markers of a row of a chart with dots.
const DOT_LINE: f64 = 13.0;
/// Width of a character at the size of the labels, on the safe side.
const CHARACTER: f64 = 6.4;

/// Place where the drawing will stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// The drawing stands in a page whose style sheet holds [`STYLE`].
    InPage,
    /// The drawing is a file of its own: it brings its style and its ground.
    File,
}

/// The rules that the drawings need, for the page that they stand in.
pub const STYLE: &str = "\
.chart text{font:12px system-ui,sans-serif;fill:currentColor}
.chart .grid{stroke:currentColor;stroke-opacity:.18}
.chart .axis{stroke:currentColor;stroke-opacity:.6}
.chart .faint{fill-opacity:.75}
.chart .series path,.chart .series line{stroke:currentColor;fill:none}
.chart .series .mark{fill:currentColor;stroke:none}
.chart .series .bar{stroke:currentColor;stroke-width:9;stroke-opacity:.45}
.chart .series .whisker{stroke-width:1.5}
.chart .series .join{stroke-width:2}
.chart .series .level{stroke-width:1.2;stroke-dasharray:2 5}
.c0{color:#0b5cad}.c1{color:#b3420a}.c2{color:#00704f}.c3{color:#8a3593}.c4{color:#6f5b00}.c5{color:#444c56}
@media (prefers-color-scheme:dark){
.c0{color:#6cb4ff}.c1{color:#ff9e6d}.c2{color:#4fd3a6}.c3{color:#dea1e6}.c4{color:#e2c44a}.c5{color:#b8c0ca}
}
";

/// The chart as an `svg` element.
pub fn svg(chart: &Chart, placement: Placement) -> String {
    let mut drawing = Drawing::default();
    let height = match chart.shape {
        Shape::Lines | Shape::Curves => lines(chart, &mut drawing),
        Shape::Dots | Shape::Bars => dots(chart, &mut drawing),
    };
    let name = id(&chart.id);
    let (style, ground) = match placement {
        Placement::InPage => (String::new(), String::new()),
        Placement::File => (
            format!(
                "<style>svg{{color:#1c2024;color-scheme:light dark}}.ground{{fill:#fff}}\
                 @media (prefers-color-scheme:dark){{svg{{color:#e6e8ea}}.ground{{fill:#14171a}}}}\n{STYLE}</style>\n"
            ),
            format!("<rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\"/>\n"),
        ),
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-labelledby=\"{name}-title {name}-desc\">\n<title id=\"{name}-title\">{}</title>\n\
         <desc id=\"{name}-desc\">{}</desc>\n{style}{ground}{}</svg>\n",
        escaped(&chart.title),
        escaped(&chart.in_words()),
        drawing.0
    )
}

#[derive(Default)]
struct Drawing(String);

impl Drawing {
    fn text(&mut self, x: f64, y: f64, anchor: &str, class: &str, content: &str) {
        let (x, y) = (coordinate(x), coordinate(y));
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        self.0.push_str(&format!(
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\"{class}>{}</text>\n",
            escaped(content)
        ));
    }

    fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.0.push_str(&format!(
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n",
            coordinate(from.0),
            coordinate(from.1),
            coordinate(to.0),
            coordinate(to.1)
        ));
    }

    /// The marker of a series: one shape each.
    fn mark(&mut self, series: usize, x: f64, y: f64) {
        let (x, y) = (coordinate(x), coordinate(y));
        // Behind the last colour the shapes move on, so that no two of 36 series have both in common.
        let path = match (series + series / 6) % 6 {
            0 => format!("M{x} {y}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z"),
            1 => format!("M{x} {y}m-3.6-3.6h7.2v7.2h-7.2z"),
            2 => format!("M{x} {y}m0-5l5 5l-5 5l-5-5z"),
            3 => format!("M{x} {y}m0-4.6l4.8 8.2h-9.6z"),
            4 => format!("M{x} {y}m0 4.6l4.8-8.2h-9.6z"),
            _ => format!("M{x} {y}m-1.3-4.6h2.6v3.3h3.3v2.6h-3.3v3.3h-2.6v-3.3h-3.3v-2.6h3.3z"),
        };
        self.0.push_str(&format!("<path class=\"mark\" d=\"{path}\"/>\n"));
    }

    fn open(&mut self, series: usize) {
        self.0.push_str(&format!("<g class=\"series c{}\">\n", series % 6));
    }

    fn close(&mut self) {
        self.0.push_str("</g>\n");
    }

    /// Opens a group whose hint tells the numbers of one point.
    fn point(&mut self, chart: &Chart, series: &Series, place: usize, point: &Point) {
        let n = number::thousands(point.n as u64);
        let hint = format!("{}, {}: {}, n = {n}", series.name, chart.places[place].label, point.shown);
        self.0.push_str(&format!("<g><title>{}</title>\n", escaped(&hint)));
    }

    /// Draws an interval from one end to the other, with a bar at each; nothing where it is a point.
    fn whisker(&mut self, point: &Point, at: impl Fn(f64, f64) -> (f64, f64)) {
        if point.low < point.high {
            self.line("whisker", at(point.low, 0.0), at(point.high, 0.0));
            for end in [point.low, point.high] {
                self.line("whisker", at(end, -3.0), at(end, 3.0));
            }
        }
    }

    /// Draws the legend, one line a series, from `top` on; returns where it ends.
    fn legend(&mut self, series: &[Series], top: f64) -> f64 {
        for (idx, one) in series.iter().enumerate() {
            let y = top + LEGEND_LINE * (idx as f64 + 0.5);
            self.open(idx);
            self.mark(idx, LEFT + 6.0, y);
            self.close();
            let room = ((WIDTH - LEFT - 22.0) / CHARACTER) as usize;
            self.text(LEFT + 18.0, y + 4.0, "start", "", &shortened(&one.name, room));
        }
        top + LEGEND_LINE * series.len() as f64
    }
}

/// Places from left to right, percent upwards; returns the height.
fn lines(chart: &Chart, drawing: &mut Drawing) -> f64 {
    let plot_width = WIDTH - LEFT - RIGHT;
    let scale = Scale::of(chart);
    let y = |value: f64| TOP + PLOT * (1.0 - scale.part(value));
    drawing.text(0.0, 11.0, "start", "faint", scale.name());
    for (value, label) in scale.ticks() {
        drawing.line("grid", (LEFT, y(value)), (WIDTH - RIGHT, y(value)));
        drawing.text(LEFT - 6.0, y(value) + 4.0, "end", "", &label);
    }
    drawing.line("axis", (LEFT, y(0.0)), (WIDTH - RIGHT, y(0.0)));
    let (first, last) = (chart.places.first().map_or(0.0, |p| p.at), chart.places.last().map_or(0.0, |p| p.at));
    // Half a slot of margin, so that no marker stands on the axis.
    let margin = 0.5 * plot_width / chart.places.len().max(1) as f64;
    let span = if last > first { last - first } else { 1.0 };
    let x = |place: usize| LEFT + margin + (plot_width - 2.0 * margin) * (chart.places[place].at - first) / span;
    let mut free_from = 0.0;
    for (idx, place) in chart.places.iter().enumerate() {
        let label = shortened(&place.label, 14);
        let half = 0.5 * CHARACTER * text::width(&label) as f64;
        drawing.line("axis", (x(idx), y(0.0)), (x(idx), y(0.0) + 4.0));
        if x(idx) - half >= free_from {
            drawing.text(x(idx), y(0.0) + 17.0, "middle", "", &label);
            free_from = x(idx) + half + 4.0;
        }
    }
    drawing.text(LEFT + 0.5 * plot_width, y(0.0) + 34.0, "middle", "faint", &shortened(&chart.axis, 60));
    let n = chart.series.len();
    let step = (0.5 * plot_width / chart.places.len().max(1) as f64 / n.max(1) as f64).min(6.0);
    for (idx, series) in chart.series.iter().enumerate() {
        let is_curve = chart.shape == Shape::Curves;
        let aside = if is_curve { 0.0 } else { (idx as f64 - 0.5 * (n as f64 - 1.0)) * step };
        drawing.open(idx);
        for path in runs_of_points(series, is_curve, |place, value| (x(place) + aside, y(value))) {
            drawing.0.push_str(&format!("<path class=\"join\"{} d=\"{path}\"/>\n", dash(idx)));
        }
        for (place, point) in series.points.iter().enumerate() {
            let Some(point) = point else { continue };
            let at = x(place) + aside;
            if series.level {
                drawing.line("level", (at, y(point.value)), (WIDTH - RIGHT, y(point.value)));
            }
            drawing.point(chart, series, place, point);
            drawing.whisker(point, |value, beside| (at + beside, y(value)));
            drawing.mark(idx, at, y(point.value));
            drawing.close();
        }
        drawing.close();
    }
    drawing.legend(&chart.series, y(0.0) + 44.0) + 4.0
}

/// Places from top to bottom, percent to the right; returns the height.
fn dots(chart: &Chart, drawing: &mut Drawing) -> f64 {
    let scale = Scale::of(chart);
    let x = |value: f64| LEFT + (WIDTH - LEFT - 2.0 * RIGHT - 8.0) * scale.part(value);
    let row = 20.0 + DOT_LINE * chart.series.len() as f64;
    let top = 6.0;
    let bottom = top + row * chart.places.len() as f64;
    for (value, label) in scale.ticks() {
        drawing.line("grid", (x(value), top), (x(value), bottom));
        drawing.text(x(value), bottom + 15.0, "middle", "", &label);
    }
    drawing.text(0.5 * (x(0.0) + x(scale.end)), bottom + 31.0, "middle", "faint", scale.name());
    for (place, at) in chart.places.iter().enumerate() {
        let y = top + row * place as f64;
        drawing.text(2.0, y + 13.0, "start", "", &shortened(&at.label, 60));
        for (idx, series) in chart.series.iter().enumerate() {
            let Some(point) = &series.points[place] else { continue };
            let y = y + 22.0 + DOT_LINE * idx as f64;
            drawing.open(idx);
            drawing.point(chart, series, place, point);
            if chart.shape == Shape::Bars {
                drawing.line("bar", (x(0.0), y), (x(point.value), y));
            }
            drawing.whisker(point, |value, beside| (x(value), y + beside));
            drawing.mark(idx, x(point.value), y);
            drawing.close();
            drawing.close();
        }
    }
    drawing.legend(&chart.series, bottom + 38.0) + 4.0
}

/// The axis of the numbers, from 0.
struct Scale {
    unit: Unit,
    end: f64,
    step: f64,
}

impl Scale {
    /// Makes the scale of a chart. In percent it ends at the first of 20, 40, ..., 100 that no interval goes beyond, in
    /// shares likewise; tokens end behind at most six round steps.
    fn of(chart: &Chart) -> Self {
        let unit = chart.unit;
        let ends = chart.series.iter().flat_map(|series| series.points.iter().flatten()).map(|point| point.high);
        let high = ends.fold(0.0, f64::max);
        let whole = if unit == Unit::Share { 1.0 } else { 100.0 };
        let (end, step) = match unit {
            Unit::Percent | Unit::Share => {
                let ends = [(20, 5), (40, 10), (60, 20), (80, 20)].map(|(end, step)| (f64::from(end), f64::from(step)));
                let scaled = ends.map(|(end, step)| (end * whole / 100.0, step * whole / 100.0));
                scaled.into_iter().find(|(end, _)| high <= *end).unwrap_or((whole, whole / 5.0))
            }
            Unit::Tokens => {
                let power = libm::pow(10.0, libm::floor(libm::log10((high / 5.0).max(1.0))));
                let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|step| high <= 5.0 * step);
                let step = step.unwrap_or(10.0 * power);
                (step * libm::ceil((high / step).max(1.0)), step)
            }
        };
        Self { unit, end, step }
    }

    fn name(&self) -> &'static str {
        match self.unit {
            Unit::Percent => "percent",
            Unit::Share => "share",
            Unit::Tokens => "tokens",
        }
    }

    /// Returns where a number stands between the ends, from 0 to 1.
    fn part(&self, value: f64) -> f64 {
        (value / self.end).clamp(0.0, 1.0)
    }

    /// Round steps with their labels.
    fn ticks(&self) -> impl Iterator<Item = (f64, String)> {
        (0..=(self.end / self.step).round() as usize).map(|tick| {
            let value = tick as f64 * self.step;
            let label = match self.unit {
                Unit::Percent => format!("{value:.0}"),
                Unit::Share => format!("{value:.2}").trim_end_matches('0').trim_end_matches('.').to_owned(),
                Unit::Tokens if value >= 1_000.0 => format!("{}K", number::thousands((value / 1_000.0) as u64)),
                Unit::Tokens => format!("{value:.0}"),
            };
            (value, label)
        })
    }
}

/// The path of each run of neighbouring points; a gap ends a run, unless it is bridged.
fn runs_of_points(series: &Series, is_bridged: bool, at: impl Fn(usize, f64) -> (f64, f64)) -> Vec<String> {
    let mut paths = Vec::new();
    let points = series.points.iter().enumerate().filter(|(_, point)| point.is_some() || !is_bridged);
    for run in points.collect::<Vec<_>>().split(|(_, point)| point.is_none()) {
        let steps: Vec<String> = run
            .iter()
            .filter_map(|(place, point)| Some((*place, point.as_ref()?.value)))
            .map(|(place, value)| at(place, value))
            .map(|(x, y)| format!("{} {}", coordinate(x), coordinate(y)))
            .collect();
        if steps.len() > 1 {
            paths.push(format!("M{}", steps.join("L")));
        }
    }
    paths
}

fn dash(series: usize) -> &'static str {
    [
        "",
        " stroke-dasharray=\"7 3\"",
        " stroke-dasharray=\"2 3\"",
        " stroke-dasharray=\"9 3 2 3\"",
        " stroke-dasharray=\"4 4\"",
        " stroke-dasharray=\"1 2\"",
    ][series % 6]
}

/// A tenth of a unit is finer than any screen.
fn coordinate(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Shortens a text to at most `room` columns, cut with an ellipsis.
fn shortened(text: &str, room: usize) -> String {
    if text::width(text) <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        if text::width(&short) + text::width(c.encode_utf8(&mut [0; 4])) + 1 > room {
            break;
        }
        short.push(c);
    }
    short + "…"
}

#[cfg(test)]
mod tests;
