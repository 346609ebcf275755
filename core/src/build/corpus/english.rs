//! English: housing cooperatives.

use super::domain::{Domain, Scale, Wording, decimal, grouped};
use super::english_questions::ask;
use super::rng::Rng;
use super::table::{Column, Figures, Value, ValueType};

const fn column(key: &'static str, title: &'static str, value_type: ValueType, unit: &'static str) -> Column {
    Column { key, title, value_type, unit }
}

pub(super) static ENGLISH: Domain = Domain {
    name: "housing_en",
    language: "en",
    columns: [
        column("name", "name", ValueType::Name, ""),
        column("region", "region", ValueType::Category, ""),
        column("heating", "source of heat", ValueType::Category, ""),
        column("founded", "month of foundation", ValueType::YearMonth, ""),
        column("dwellings", "number of dwellings", ValueType::Count, "dwellings"),
        column("members", "number of members", ValueType::Count, "members"),
        column("employees", "number of employees", ValueType::Count, "employees"),
        column("charges", "income from charges", ValueType::Money, "EUR"),
        column("repairs", "spending on repairs", ValueType::Money, "EUR"),
        column("reserve", "reserve fund", ValueType::Money, "EUR"),
        column("arrears", "arrears rate", ValueType::Percentage, "%"),
        column("turnover", "turnover rate", ValueType::Percentage, "%"),
        column("inspected", "last fire inspection", ValueType::YearMonth, ""),
    ],
    regions: &["Northfen", "Upper Sarle", "Gantmoor", "the Isle of Tey", "Quarrand", "Hollin Vale", "Eastmark"],
    sorts: &["district heating", "heat pumps", "natural gas", "wood pellets"],
    full_names: &["{n} Housing Cooperative", "{n} Homes", "{n} Tenants Cooperative", "{n} Building Cooperative"],
    place_name,
    unit_name,
    person,
    draw,
    prose,
    cell,
    ask,
    tenths_of_bytes_per_token: 37,
    part_spending_unit: 1_000,
    wording: WORDING,
};

fn place_name(rng: &mut Rng, more: usize) -> String {
    const FIRST: &[&str] = &[
        "Vel", "Tor", "Mar", "Quil", "Bren", "Osk", "Fen", "Hal", "Lum", "Dar", "Kett", "Arl", "Sil", "Wen", "Ost",
        "Pel", "Garr", "Nor", "Tam", "Ryd", "Bos", "Cald", "Ill", "Umber", "Yar", "Drem", "Hesk", "Lov",
    ];
    const MIDDLE: &[&str] = &["a", "e", "i", "o", "mo", "ri", "lan", "is", "ven", "ta", "ko", "ess", "un", "erd"];
    const LAST: &[&str] =
        &["ra", "wick", "stead", "len", "mouth", "dale", "by", "hythe", "garth", "now", "sund", "ley", "ford", "mere"];
    let middle: String = (0..=more).map(|_| rng.pick(MIDDLE)).collect();
    format!("{}{middle}{}", rng.pick(FIRST), rng.pick(LAST))
}

fn unit_name(rng: &mut Rng) -> String {
    const FIRST: &[&str] = &[
        "Alder",
        "Lantern",
        "Tannery",
        "Sparrow",
        "Mill",
        "Orchard",
        "Harbour",
        "Plover",
        "Chapel",
        "Weaver",
        "Juniper",
        "Signal",
        "Foundry",
        "Heron",
        "Clover",
        "Rope",
        "Saddler",
        "Linden",
        "Brickfield",
        "Quay",
    ];
    const LAST: &[&str] = &["Court", "Terrace", "Yard", "Green", "Row", "Close", "Gardens", "House"];
    format!("{} {}", rng.pick(FIRST), rng.pick(LAST))
}

fn person(rng: &mut Rng) -> String {
    const FIRST: &[&str] = &["Ines", "Tobin", "Maud", "Karel", "Odile", "Ruben", "Sanna", "Piet", "Noor", "Alma"];
    const LAST: &[&str] = &["Varley", "Hoskem", "Bruun", "Teyle", "Ostrand", "Quell", "Marrow", "Jessop", "Linde"];
    format!("{} {}", rng.pick(FIRST), rng.pick(LAST))
}

fn draw(rng: &mut Rng) -> Figures {
    let places = match rng.below(3) {
        0 => rng.between(64, 260),
        1 => rng.between(180, 900),
        _ => rng.between(600, 2_600),
    };
    let income = places * rng.between(4_700, 9_600) / 1_000 * 1_000;
    Figures {
        places,
        people: places * rng.between(1_080, 1_900) / 1_000,
        staff: 3 + places * rng.between(14, 34) / 1_000,
        income,
        spending: income / 1_000 * rng.between(170, 460) / 1_000 * 1_000,
        reserve: income / 1_000 * rng.between(90, 1_700) / 1_000 * 1_000,
        first_rate: rng.between(20, 990),
        second_rate: rng.between(110, 1_420),
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const SMALL: [&str; 13] =
    ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

fn prose(value: &Value, scale: Scale) -> String {
    match (value, scale) {
        (Value::Text(text), _) => text.clone(),
        (Value::Count(n), _) if *n < 13 => SMALL[*n as usize].to_owned(),
        (Value::Count(n), _) => grouped(*n),
        (Value::Money(n), Scale::Thousands) if n.is_multiple_of(1_000) => {
            format!("{} thousand euros", grouped(n / 1_000))
        }
        (Value::Money(n), Scale::Millions) if *n >= 1_000_000 => format!("{} million euros", decimal(*n, 6)),
        (Value::Money(n), _) => format!("EUR {}", grouped(*n)),
        (Value::Percentage(n), Scale::Whole) => format!("{} per cent", decimal(*n, 2)),
        (Value::Percentage(n), _) => format!("{} per thousand", decimal(*n, 1)),
        (Value::Month(month), _) => format!("{} {}", MONTHS[month.month() as usize - 1], month.year()),
    }
}

fn cell(value: &Value, scale: Scale) -> (String, &'static str) {
    match (value, scale) {
        (Value::Count(n), _) => (grouped(*n), ""),
        (Value::Money(n), Scale::Thousands) if n.is_multiple_of(1_000) => (grouped(n / 1_000), "EUR thousand"),
        (Value::Money(n), Scale::Millions) => (decimal(*n, 6), "EUR million"),
        (Value::Money(n), _) => (grouped(*n), "EUR"),
        (Value::Percentage(n), Scale::Whole) => (decimal(*n, 2), "%"),
        (Value::Percentage(n), _) => (decimal(*n, 1), "‰"),
        (Value::Text(_) | Value::Month(_), _) => (prose(value, scale), ""),
    }
}

const WORDING: Wording = Wording {
    titles: &["{n}: report for 2025", "Annual report 2025 of {n}", "{n} in 2025", "A year at {n}: 2025"],
    openings: &[
        "This report tells members what became of their money, their roofs and their patience in 2025.",
        "Another year of leaking gutters and full meeting rooms lies behind us; here is the account of it.",
        "The board lays this account before the members, who own every brick it speaks of.",
        "Whoever reads only one page a year from us should read this one.",
        "We have tried to write plainly. Where a number looks odd, ask; the office door is open on Tuesdays.",
    ],
    profile_headings: &["Who we are", "The cooperative at a glance", "About the cooperative"],
    work_headings: &["Homes and people", "The year in figures", "Living here"],
    money_headings: &["Money", "Accounts", "What came in and what went out"],
    unit_headings: &["Estate by estate", "Our estates", "Where the homes stand"],
    diary_headings: &["From the house diary", "Things that happened", "Notes from the year"],
    archive_headings: &["Looking back", "Ten years on one page"],
    outlook_headings: &["What comes next", "Outlook", "The year ahead"],
    note_headings: &["Corrections", "Notes added after printing", "Slips inserted later"],
    region: &[
        "{n} belongs to {v}, though two of its founders came from {o}.",
        "All our houses stand in {v}; the plan to build in {o} was dropped long ago.",
        "We are at home in {v}.",
        "Our region is {v}, whatever the old letterhead says about {o}.",
    ],
    sort: &[
        "The homes are warmed by {v}, which replaced {o} some years ago.",
        "Heat comes from {v}; a study of {o} was read with interest and put aside.",
        "Our source of heat is {v}.",
        "For warmth we rely on {v}. The last chimney from the days of {o} came down in spring.",
    ],
    founded: &[
        "The cooperative was founded in {v}; the present statutes date from {o}.",
        "Nineteen households signed the founding deed in {v}, and the first of them moved in in {o}.",
        "Our month of foundation is {v}. The land register followed in {o}.",
        "It all began in {v} in the back room of a bakery; the oldest minutes that survive are of {o}.",
    ],
    inspected: &[
        "The last fire inspection was passed in {v}, the one before it in {o}.",
        "Fire inspectors went through every staircase in {v}; their previous visit was in {o}.",
        "Our last fire inspection dates from {v}.",
        "After the inspection of {o} the fire service came again in {v} and has not been back since.",
    ],
    figures: [
        &[
            "At the end of 2025 the cooperative had {v} dwellings under its roofs, against {p} a year earlier.",
            "We let {v} dwellings at the close of 2025 ({p} at the close of 2024).",
            "The number of dwellings stood at {v} on 31 December 2025, after {p} twelve months before.",
        ],
        &[
            "Members numbered {v} at the end of 2025; in 2024 there had been {p}.",
            "The register closed the year 2025 with {v} members, where it had opened with {p}.",
            "With {v} members at the end of 2025 (2024: {p}), the general meeting needs the big hall.",
        ],
        &[
            "In December 2025 {v} people were on the payroll, caretakers included; a year before it was {p}.",
            "The office, the workshop and the gardens together employed {v} people at the end of 2025 (2024: {p}).",
            "We ended 2025 with {v} employees and had begun it with {p}.",
        ],
        &[
            "Charges brought in {v} over the year 2025; in 2024 it had been {p}.",
            "Members paid {v} in charges in 2025, after {p} in the year before.",
            "Income from charges came to {v} in 2025 (2024: {p}).",
        ],
        &[
            "Repairs cost {v} in 2025, where the year before had taken {p}.",
            "Our spending on repairs reached {v} in 2025, after {p} in 2024.",
            "Roofs, pipes, lifts and paint: repairs swallowed {v} in 2025 ({p} in 2024).",
        ],
        &[
            "The reserve fund closed 2025 at {v}, having closed 2024 at {p}.",
            "We put something by: the reserve fund held {v} on the last day of 2025, against {p} a year earlier.",
            "In the reserve fund lay {v} at the end of 2025 (end of 2024: {p}).",
        ],
        &[
            "On the last day of 2025, {v} of the charges due were in arrears, against {p} a year earlier.",
            "The arrears rate was {v} at the end of 2025; at the end of 2024 it was {p}.",
            "Late payers are few but faithful: {v} of the year's charges were in arrears at the end of 2025 (2024: {p}).",
        ],
        &[
            "Over the year 2025, {v} of the dwellings changed hands, compared with {p} in 2024.",
            "The turnover rate came to {v} in 2025, after {p} in the year before.",
            "People stay: only {v} of our homes had new tenants in 2025 (2024: {p}).",
        ],
    ],
    work_remarks: &[
        "The waiting list was read aloud once more, to general sighing.",
        "Nobody moves for the view, and few move at all before the children are grown.",
        "We count a home as let when its key has been signed for.",
        "The laundry rota remains the most contested document we publish.",
    ],
    money_remarks: &[
        "The auditors found nothing to object to but our handwriting.",
        "Interest rates did us neither good nor harm.",
        "Each euro not spent on paint in time is spent on plaster later.",
        "The members' meeting approved the accounts without a vote against, which worried the treasurer.",
    ],
    table_intros: &[
        "The table sets the last three years side by side.",
        "Three years in one view:",
        "For comparison, with the two years before:",
    ],
    unit_intros: &[
        "Our dwellings are spread over these estates.",
        "The estates differ more than their names suggest.",
        "Each estate has its own caretaker and its own opinion of the others.",
    ],
    archive_intros: &[
        "For those who like long lines, here are earlier years as they were reported at the time.",
        "Older figures, as printed in the reports of those years:",
    ],
    indicator_headers: ["Indicator", "Unit"],
    unit_headers: ["Estate", "Built", "Dwellings", "Repairs 2025 (EUR thousand)"],
    year_header: "Year",
    profile_headers: ["Fact", "Entry"],
    side_costs: &[
        ("insurance", 38),
        ("administration", 121),
        ("waste and water", 94),
        ("gardens and paths", 27),
        ("interest paid", 146),
    ],
    anecdotes: &[
        "In {d} a pipe burst under {u}; {k} cellars were pumped dry by evening, and the bill came to {e}.",
        "{t}, caretaker at {u} for {k} years, retired in {d} and left behind a cupboard of labelled keys.",
        "The swifts came back to {u} in {d}: {k} pairs, one more than the boxes we had hung.",
        "A grant of {e} paid for the ramp at {u}, opened in {d} by {t}, who used it first.",
        "At {u} the stairwell was painted in {d}. {k} shades of grey were proposed; {t} chose the fifth.",
        "{t} ran the repair café at {u} from {d} on: {k} toasters saved, one lost with honour.",
        "The lift of {u} stood still for {k} days in {d}. The spare part cost {e}; the apologies were free.",
        "In {d}, {k} households of {u} planted a hedge, which {t} waters and everyone else admires.",
        "The summer party at {u} cost {s}. {k} cakes were counted at four o'clock and none at five.",
        "A storm in {d} took {k} tiles off {u}; {t} found the last of them in a pram, unoccupied.",
        "{k} bicycles without owners were given away at {u} in {d}. {t} repaired most of them.",
        "The new playground at {u} was paid for with {e} and {k} Saturdays of volunteers' work.",
        "Since {d} the meeting room at {u} has a piano, a gift from {t}. It was tuned for {s}.",
        "In {d} the old boiler of {u} was carried out in {k} pieces; the scrap dealer paid {s}.",
        "{t} counted the windows of {u} in {d}: {k} needed new seals, which came to {s}.",
        "The book swap at {u} holds {k} novels and, since {d}, a sign by {t} asking for endings to be returned.",
        "A dispute over {k} parking bays at {u} ended in {d}, when {t} proposed to share them by the week.",
        "Solar panels on {u} earned {e} by {d}, {k} per cent less than promised, as it rained.",
    ],
    outlooks: &[
        "In 2026 the façades of {u} are due; {e} has been set aside for the scaffolding alone.",
        "We mean to open {k} guest rooms at {u} before the end of 2026.",
        "The board will propose a new rule on pets. It has been warned.",
        "A cargo bicycle for {u} is on order, with {k} names already on its list.",
        "Whether to build again is a question for the meeting, not for a report.",
        "From {d} {t} will look after newcomers, one evening a week, at {u}.",
    ],
    errata: &[
        "**{d}.** In the printed report the {l} for 2025 is given as {w}. The right figure is {v}.",
        "**Correction of {d}.** The {l} for 2025 was not {w}, as stated, but {v}. We thank the reader who added it up.",
        "**Inserted {d}.** After the audit the {l} for 2025 stands at {v}; the {w} given elsewhere in this report is superseded.",
    ],
    provisional: &[
        "The newsletter of {d} had still put the {l} for 2025 at {w}; the final accounts settle on what is said here.",
        "An estimate of {d}, {w} for the {l} of 2025, has been overtaken by the figure in this report.",
    ],
    restated: &[
        "**{d}.** The {l} for {y} has been restated from {w} to {v}; the figure for 2025 is not affected.",
        "**Note of {d}.** An older mistake: the {l} for {y} should have read {v}, not {w}. Later years were right.",
    ],
    gap: " ",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::corpus::table::Month;

    #[test]
    fn values_are_written_in_the_unit_asked_for() {
        let money = Value::Money(4_318_000);
        assert_eq!(prose(&money, Scale::Whole), "EUR 4,318,000");
        assert_eq!(prose(&money, Scale::Thousands), "4,318 thousand euros");
        assert_eq!(prose(&money, Scale::Millions), "4.318 million euros");
        assert_eq!(cell(&Value::Percentage(725), Scale::Thousands), ("72.5".to_owned(), "‰"));
        assert_eq!(prose(&Value::Count(9), Scale::Whole), "nine");
        assert_eq!(prose(&Value::Month(Month::new(1961, 3)), Scale::Whole), "March 1961");
    }
}
