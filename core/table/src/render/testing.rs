//! The table that every rendering is tried on.

use crate::{Group, Table, Value};
use closeread_metrics::stats::{Estimate, IntervalMethod};

pub(super) fn hostile() -> Table {
    let columns = ["name", "n", "score", "difference", "other"].map(str::to_owned).to_vec();
    let mut table = Table::new("hostile", "A & B <script>", columns);
    table.source = "Paper_1, Table 3".to_owned();
    let estimate =
        |value, low, high, interval| Value::Score { estimate: Estimate { value, low, high, n: 85, interval } };
    let missing = || Value::missing("no \"evidence\"");
    table.rows = vec![
        vec![
            Value::text("赊渡簿"),
            Value::count(12),
            estimate(0.541, 0.436, 0.643, IntervalMethod::Wilson),
            Value::Difference { value: -0.031, low: -0.066, high: 0.004, n: 85, over_items: true },
            Value::Number { value: 1e-9, decimals: 4 },
        ],
        vec![
            Value::text("=SUM(A1)"),
            Value::count(1234),
            estimate(1.0, 0.97, 1.0, IntervalMethod::ClusteredByBook),
            Value::Difference { value: 0.02, low: 0.01, high: 0.03, n: 85, over_items: false },
            Value::Number { value: f64::NAN, decimals: 2 },
        ],
        vec![Value::text("a\u{202e}b"), missing(), Value::Share { value: 0.125, n: 8 }, missing(), missing()],
    ];
    table.notes = vec!["5% of $10_000 #1 {x} ~ ^ \\ [y]".to_owned()];
    table
}

/// Heads over several columns, and cells that reach over several.
pub(super) fn spanned() -> Table {
    let columns = ["Method", "1,500", "Voices low", "Voices high"].map(str::to_owned).to_vec();
    let mut table = Table::new("spanned", "Spans", columns);
    table.groups = vec![Group { head: "Voices".to_owned(), first: 2, n: 2 }];
    let aside = "Avg. Tokens: 86,000".to_owned();
    let over_all =
        Value::Printed { value: 76.2, decimals: 1, sd: Some(1.0), n: 5, mark: None, sign: String::new(), aside };
    table.rows = vec![
        vec![Value::text("dos-rag"), Value::printed(68.9, 1, 5), Value::printed(1.0, 1, 5), Value::missing("not run")],
        vec![Value::text("read-agent"), over_all, Value::Spanned, Value::Spanned],
        vec![Value::text("whole"), Value::missing("limit exceeded"), Value::Spanned, Value::Spanned],
    ];
    table
}
