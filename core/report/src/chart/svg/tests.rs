use super::super::Place;
use super::*;
use closeread_metrics::stats::{Estimate, IntervalMethod};

fn chart(shape: Shape) -> Chart {
    let estimate = |value: f64| {
        let (low, high) = (value - 0.1, value + 0.1);
        Some(Point::from(&Estimate { value, low, high, n: 85, interval: IntervalMethod::Wilson }))
    };
    let series = |name: &str, points| Series { name: name.to_owned(), points, level: false };
    let place = |at: f64, label: &str| Place { label: label.to_owned(), at };
    Chart {
        id: "f1 by <label>".to_owned(),
        title: "F1 & <b>more</b>".to_owned(),
        note: String::new(),
        axis: "label".to_owned(),
        unit: Unit::Percent,
        numbers: "Percent".to_owned(),
        shape,
        places: vec![place(0.0, "a"), place(1.0, "<script>"), place(2.0, "赊渡簿"), place(3.0, "d")],
        series: vec![
            series("one", vec![estimate(0.5), estimate(0.6), None, estimate(0.2)]),
            series("\u{202e}two", vec![None, estimate(0.4), estimate(0.3), estimate(0.2)]),
        ],
    }
}

#[test]
fn a_drawing_is_well_formed_and_names_its_numbers() {
    for shape in [Shape::Lines, Shape::Curves, Shape::Dots, Shape::Bars] {
        let drawing = svg(&chart(shape), Placement::File);
        let mut reader = quick_xml::Reader::from_str(&drawing);
        let mut marks = 0;
        loop {
            match reader.read_event().unwrap() {
                quick_xml::events::Event::Eof => break,
                quick_xml::events::Event::Empty(e) if e.name().as_ref() == "path" => {
                    marks += usize::from(e.attributes().any(|a| a.unwrap().value == "mark"));
                }
                _ => {}
            }
        }
        assert_eq!(marks, 6 + 2, "six points and two entries of the legend");
        assert!(drawing.contains("one: a 50.0 [40.0, 60.0]*; &lt;script&gt; 60.0 [50.0, 70.0]*; d 20.0"), "{drawing}");
        assert!(!drawing.contains("<script") && !drawing.contains('\u{202e}'), "{drawing}");
    }
}

#[test]
fn an_axis_ends_behind_its_highest_number() {
    let scale = |unit, value: f64| {
        let mut chart = chart(Shape::Lines);
        let point = Point { value, low: value, high: value, n: 1, shown: String::new() };
        chart.unit = unit;
        chart.series = vec![Series { name: String::new(), points: vec![Some(point)], level: false }];
        Scale::of(&chart)
    };
    let ticks = |unit, value| scale(unit, value).ticks().map(|(_, label)| label).collect::<Vec<_>>();
    assert_eq!(ticks(Unit::Percent, 30.0), ["0", "10", "20", "30", "40"]);
    assert_eq!(ticks(Unit::Share, 0.19), ["0", "0.05", "0.1", "0.15", "0.2"]);
    assert_eq!(ticks(Unit::Share, 0.9), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
    assert_eq!(ticks(Unit::Tokens, 31_000.0), ["0", "10K", "20K", "30K", "40K"]);
    assert_eq!(ticks(Unit::Tokens, 0.0), ["0", "1"]);
}

#[test]
fn a_gap_breaks_the_line() {
    let chart = chart(Shape::Lines);
    let paths = |bridged| runs_of_points(&chart.series[0], bridged, |place, value| (place as f64, value / 100.0));
    assert_eq!(paths(false), ["M0 0.5L1 0.6"], "the last point has no neighbour");
    assert_eq!(paths(true), ["M0 0.5L1 0.6L3 0.2"]);
    assert_eq!(shortened("a long name", 6), "a lon…");
    assert_eq!(shortened("赊渡簿", 5), "赊渡…");
}
