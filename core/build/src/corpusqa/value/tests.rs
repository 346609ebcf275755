use super::*;
use proptest::prelude::*;

fn column(value_type: ValueType, unit: &str) -> Column {
    Column::new("figure", value_type, unit)
}

#[track_caller]
fn number_in(raw: &str, value_type: ValueType, unit: &str) -> f64 {
    match read_cell(raw, &column(value_type, unit)) {
        Ok(CellValue::Number { value }) => value,
        other => panic!("{raw} is {other:?}"),
    }
}

#[test]
fn numbers_are_the_same_however_they_are_written() {
    for raw in [
        "1,234,500",
        "$1,234,500",
        "1234500 USD",
        "US$1,234,500.00",
        "1.2345 million",
        "$1.2345m",
        "1 234 500",
        "1.234.500",
        "1'234'500",
        "USD 1.2345 mn",
        "about 1,234,500",
        "1,234,500 (2022 est.)",
        "1,234,500[3]",
        "12,34,500",
        "１２３４５００",
        "1.234.500,00",
        "1234.5 thousand",
        "~$1,234.5k",
    ] {
        assert_eq!(number_in(raw, ValueType::Money, "USD"), 1_234_500.0, "{raw}");
    }
    for (raw, expected) in [
        ("(1,200)", -1_200.0),
        ("$(1,200)", -1_200.0),
        ("-1,200", -1_200.0),
        ("−5", -5.0),
        (".5", 0.5),
        ("0", 0.0),
        ("twenty-three", 23.0),
        ("三百二十一", 321.0),
        ("+4.2", 4.2),
        ("1.005", 1.005),
    ] {
        assert_eq!(number_in(raw, ValueType::Number, ""), expected, "{raw}");
    }
    assert_eq!(number_in("123.45万元", ValueType::Money, "CNY"), 1_234_500.0);
    assert_eq!(number_in("1.2亿元", ValueType::Money, "万元"), 12_000.0);
}

#[test]
fn a_magnitude_is_brought_into_the_columns_unit_and_a_bare_number_is_in_it() {
    assert_eq!(number_in("3.5 billion", ValueType::Money, "USD million"), 3_500.0);
    assert_eq!(number_in("$3.5", ValueType::Money, "USD million"), 3.5);
    assert_eq!(number_in("12 thousand", ValueType::Count, "members"), 12_000.0);
    for (raw, held, expected) in [
        ("five million", "USD million", 5.0),
        ("two billion dollars", "USD million", 2_000.0),
        ("twelve", "USD million", 12.0),
        ("五千万", "万元", 5_000.0),
        ("一亿二千万元", "万元", 12_000.0),
        ("5億円", "JPY", 5e8),
        ("1.2兆円", "億円", 12_000.0),
        ("5千萬元", "CNY", 5e7),
        ("1亿5000万元", "万元", 15_000.0),
        ("三萬", "CNY", 30_000.0),
        ("5 Mrd. €", "EUR", 5e9),
        ("5 TEUR", "EUR", 5_000.0),
        ("$5 bil.", "USD", 5e9),
        ("Rs. 5 crore", "INR", 5e7),
        ("5萬", "新台幣千元", 50.0),
        ("5萬港幣", "港幣千元", 50.0),
        ("5 Mio. EUR", "TEUR", 5_000.0),
        ("5", "TEUR", 5.0),
        ("MSEK 5", "SEK", 5e6),
        ("5 m€", "EUR", 5e6),
        ("5 milliards", "EUR", 5e9),
        ("5 млн", "RUB", 5e6),
        ("5억", "KRW", 5e8),
    ] {
        assert_eq!(number_in(raw, ValueType::Money, held), expected, "{raw}");
    }
    let stated = |value: &str, unit: &str, held: &str| read_stated(value, unit, &column(ValueType::Money, held));
    assert_eq!(stated("1,118", "EUR thousand", "EUR"), Ok(CellValue::Number { value: 1_118_000.0 }));
    assert_eq!(stated("1.2", "EUR m", "EUR"), Ok(CellValue::Number { value: 1_200_000.0 }));
    assert_eq!(stated("€m 1.2", "", "EUR"), Ok(CellValue::Number { value: 1_200_000.0 }));
    assert_eq!(stated("1118000", "EUR", "EUR thousand"), Ok(CellValue::Number { value: 1_118.0 }));
    assert_eq!(stated("1,118", "", "EUR thousand"), Ok(CellValue::Number { value: 1_118.0 }));
    assert_eq!(stated("5000", "单位：万元", "万元"), Ok(CellValue::Number { value: 5000.0 }));
    assert_eq!(stated("1,118", "2023", "EUR thousand"), Ok(CellValue::Number { value: 1_118.0 }));
    assert_eq!(stated("1,118 thousand", "EUR", "EUR"), Ok(CellValue::Number { value: 1_118_000.0 }));
    assert!(stated("5", "GBP", "EUR").unwrap_err().to_string().contains("is in GBP, the column in EUR"));
    for (raw, held) in [
        ("5 SEK", "EUR"),
        ("5 kr", "USD million"),
        ("5 pounds", "EUR"),
        ("5 cents", "USD"),
        ("5 zł", "EUR"),
        ("5 baht", "USD"),
        ("5万澳元", "元"),
        ("5韩元", "元"),
        ("五千万美金", "元"),
        ("CA$5", "USD"),
        ("5台币", "元"),
    ] {
        let refused = stated(raw, "", held).unwrap_err().to_string();
        assert!(refused.contains(", the column in "), "{refused}");
    }
    assert_eq!(stated("5 kr", "", "NOK"), Ok(CellValue::Number { value: 5.0 }));
    assert_eq!(stated("1.2 EURm", "", "EUR"), Ok(CellValue::Number { value: 1_200_000.0 }));
}

#[test]
fn measures_convert_within_their_kind() {
    assert_eq!(number_in("2 km", ValueType::Number, "m"), 2_000.0);
    assert_eq!(number_in("1.2m", ValueType::Number, "m"), 1.2);
    assert_eq!(number_in("1.2m", ValueType::Count, ""), 1_200_000.0);
    assert_eq!(number_in("1.83 metres", ValueType::Number, ""), 1.83);
    assert_eq!(number_in("12 mm", ValueType::Number, ""), 12.0);
    assert_eq!(number_in("20 mm", ValueType::Number, "cm"), 2.0);
    assert_eq!(number_in("$12mm", ValueType::Money, "USD"), 12_000_000.0);
    assert_eq!(number_in("12 mm", ValueType::Money, "USD mm"), 12.0);
    assert_eq!(number_in("5.05 m", ValueType::Count, "viewers"), 5_050_000.0);
    let refused = read_cell("1.83 m", &column(ValueType::Number, "")).unwrap_err().to_string();
    assert!(refused.contains("may be metres or millions"), "{refused}");
    for (raw, number) in [("1½", 1.5), ("1 ¾ km", 1.75), ("½", 0.5), ("-¼", -0.25), ("1,200⅛", 1_200.125)] {
        assert_eq!(number_in(raw, ValueType::Number, "km"), number, "{raw}");
    }
    assert_eq!(number_in("2,381,740 sq km", ValueType::Number, "sq km"), 2_381_740.0);
    assert_eq!(number_in("12 km²", ValueType::Number, "sq km"), 12.0);
    assert_eq!(number_in("1.5 million sq km", ValueType::Number, "sq km"), 1_500_000.0);
    assert_eq!(number_in("500 ha", ValueType::Number, "sq km"), 5.0);
    for (raw, unit, expected) in [
        ("200 g", "kg", 0.2),
        ("1 tonne", "kg", 1000.0),
        ("10 pounds", "kg", 4.535_923_7),
        ("3 kilograms", "kg", 3.0),
        ("80 centimetres", "m", 0.8),
        ("3 kilometre", "m", 3000.0),
        ("1 hectare", "sq km", 0.01),
        ("1 sq. km", "sq km", 1.0),
        ("five hundred metres", "km", 0.5),
        ("三百公里", "m", 300_000.0),
        ("5厘米", "米", 0.05),
        ("180公分", "公尺", 1.8),
        ("5公噸", "公斤", 5_000.0),
        ("約5", "公尺", 5.0),
        ("負5", "公尺", -5.0),
        ("1.8米", "厘米", 180.0),
        ("500克", "公斤", 0.5),
        ("5克拉", "克", 1.0),
        ("500 ft²", "sq ft", 500.0),
        ("5万千瓦", "兆瓦", 50.0),
        ("5兆瓦", "千瓦", 5_000.0),
        ("500", "兆瓦", 500.0),
    ] {
        let value = number_in(raw, ValueType::Number, unit);
        assert!((value - expected).abs() < 1e-9, "{raw} is {value} {unit}");
    }
    for (raw, unit) in [
        ("5 tons", "kg"),
        ("5 kg", "tons"),
        ("90 minutes", "hours"),
        ("90 min", "hours"),
        ("ninety minutes", "hours"),
        ("90分钟", "小时"),
        ("18个月", "年"),
        ("500毫升", "升"),
        ("500毫升", "公升"),
        ("5坪", "平方公尺"),
        ("5畝", "公頃"),
        ("5千瓦", "千瓦时"),
        ("800 MHz", "GHz"),
        ("5 ms", "s"),
        ("5 kt", "tonnes"),
        ("5 km/h", "m/s"),
        ("5000元/月", "元/年"),
        ("5 MWh", "kWh"),
        ("1.2 GW", "MW"),
        ("500 MB", "GB"),
        ("50 °F", "°C"),
        ("5 cubic feet", "cubic metres"),
        ("5 per month", "USD per year"),
        ("5 monthly", "USD/year"),
        ("5 tonnes a day", "tonnes per week"),
    ] {
        let refused = read_cell(raw, &column(ValueType::Number, unit)).unwrap_err().to_string();
        assert!(refused.contains("has a unit that does not convert"), "{refused}");
    }
    for raw in ["5-", "1,234 –", "10⁶", "5 mil", "5 Cr", "5 T", "5兆", "five euros"] {
        read_cell(raw, &column(ValueType::Money, "USD")).unwrap_err();
    }
    assert_eq!(number_in("1,234¹", ValueType::Money, "USD"), 1234.0);
    assert_eq!(number_in("$5 per tonne", ValueType::Money, "USD"), 5.0);
    for (raw, unit) in [
        ("1 hour", "hours"),
        ("1 hour", "hrs"),
        ("1 minute", "min"),
        ("1 MW", "megawatts"),
        ("1 liter", "litres"),
        ("1 cubic metre", "m³"),
        ("1 cubic metre per second", "m3/s"),
        ("1 hour", "hours/week"),
        ("$1 a year", "USD"),
        ("1 per annum", "USD/year"),
        ("1 monthly", "USD a month"),
        ("₹ 1 Cr", "₹ Cr"),
        ("$1 mil", "USD mil"),
        ("CAD 1", "CAD"),
        ("ca. 1", "CAD"),
        ("Approx. CA$1", "CAD"),
        ("1小时", "hours"),
        ("1 s", "seconds"),
        ("1 Gbps", "Gbps"),
        ("1千瓦时", "千瓦时"),
        ("1 km/h", "km/h"),
        ("$1/yr", "USD/year"),
        ("1", "km/h"),
        ("1克朗", "克朗"),
    ] {
        assert_eq!(number_in(raw, ValueType::Number, unit), 1.0, "{raw}");
    }
    assert_eq!(number_in("12 tonnes per year", ValueType::Number, "tonnes"), 12.0);
    assert_eq!(number_in("5 tons", ValueType::Number, ""), 5.0);
    let refused = read_cell("5 kg", &column(ValueType::Number, "km")).unwrap_err().to_string();
    assert!(refused.contains("of the kind mass"), "{refused}");
}

#[test]
fn shares_are_percent_points() {
    for raw in ["12.5%", "12.5 percent", "12.5", "125‰", "1250 bps", "12.50 %"] {
        assert_eq!(number_in(raw, ValueType::Percentage, "%"), 12.5, "{raw}");
    }
    assert_eq!(number_in("百分之四十五", ValueType::Percentage, "%"), 45.0);
    assert_eq!(number_in("3成", ValueType::Percentage, "%"), 30.0);
    assert!(read_cell("12.5%", &column(ValueType::Money, "USD")).unwrap_err().to_string().contains("is a share"));
}

#[test]
fn what_is_no_value_of_the_column_says_so() {
    for raw in [
        "Italy",
        "3-5",
        "3 of 5",
        "over 5",
        "<5",
        "more than 12",
        "5万以上",
        "300多人",
        "500余人",
        "12 in 2021",
        "4,5",
        "0,125",
        "-0,999 EUR",
        "1⅓",
        "1,23,4",
        "1.2.3",
        "(5",
        "5)",
        "1e5",
        "12:30",
        "2024-03-31",
    ] {
        assert!(read_cell(raw, &column(ValueType::Number, "")).is_err(), "{raw}");
    }
    for raw in ["", " - ", "N/A", "不适用", "不適用", "無", "—", "not stated"] {
        assert_eq!(read_cell(raw, &column(ValueType::Count, "")), Ok(CellValue::Missing), "{raw}");
    }
}

#[test]
fn dates_are_months_or_years() {
    let date = |raw: &str| read_cell(raw, &column(ValueType::YearMonth, ""));
    for raw in [
        "2024-03",
        "2024/3/31",
        "2024年3月31日",
        "2024-03-31 00:00:00",
        "2024-03-31T12:30:00.000+01:00",
        "March 31, 2024",
        "31 Mar 2024",
        "Mar. 2024",
        "3/31/2024",
        "31.3.2024",
        "31 March 2024 (the year's end)",
        "2024年3月",
    ] {
        assert_eq!(date(raw), Ok(CellValue::Date { year: 2024, month: Some(3) }), "{raw}");
    }
    for raw in ["1962", "FY1962", "1962年"] {
        assert_eq!(date(raw), Ok(CellValue::Date { year: 1962, month: None }), "{raw}");
    }
    for raw in ["2024-13", "3/4/2024", "soon", "Smarch 2024", "2024-03-31 or later"] {
        assert!(date(raw).is_err(), "{raw}");
    }
    assert_eq!(date("5 July 1962").unwrap().to_string(), "1962-07");
}

#[test]
fn the_same_value_is_the_same_to_two_decimals_and_in_any_case() {
    let number = |value| CellValue::Number { value };
    assert!(number(12.504).is_same(&number(12.5)) && !number(12.51).is_same(&number(12.5)));
    assert!(number(1e15 + 0.1).is_same(&number(1e15)));
    assert!(!number(0.004).is_same(&number(0.001)), "four times as much, though both are 0.00");
    let text = |text: &str| CellValue::Text { text: text.to_owned() };
    assert!(text("New York").is_same(&text("new-york")) && !text("York").is_same(&text("New York")));
    assert!(!CellValue::Missing.is_same(&CellValue::Missing), "two silent extractions agree on nothing");
    assert!(!number(12.0).is_same(&text("12")));
}

#[test]
fn a_letter_and_its_accent_are_the_same_in_one_character_or_two() {
    let same = |a: &str, b: &str| {
        let text = |text: &str| CellValue::Text { text: text.to_owned() };
        text(a).is_same(&text(b))
    };
    assert!(same("\u{c9}lan", "E\u{301}lan") && !same("E\u{301}lan", "Elan"));
    assert_eq!(folded("E\u{301}lan"), "\u{e9}lan");
}

fn grouped(digits: &str, separator: &str) -> String {
    let n = digits.len();
    let group = |(at, c): (usize, char)| match at > 0 && (n - at).is_multiple_of(3) {
        true => format!("{separator}{c}"),
        false => c.to_string(),
    };
    digits.chars().enumerate().map(group).collect()
}

proptest! {
    /// A number is read back from every notation that it has.
    #[test]
    fn a_number_survives_its_notations(
        whole in 0u64..1_000_000_000_000, cents in 0u8..100, negative: bool, separator in prop::sample::select(vec!["", ",", " ", "'"]),
        dressing in prop::sample::select(vec![("", ""), ("$", ""), ("", " USD"), ("USD ", ""), ("about ", ""), ("", " (2022 est.)")]),
    ) {
        let printed = format!("{}.{cents:02}", grouped(&whole.to_string(), separator));
        let expected: f64 = format!("{whole}.{cents:02}").parse().unwrap();
        let expected = if negative { -expected } else { expected };
        let (before, after) = dressing;
        let signed = if negative { format!("{before}({printed}){after}") } else { format!("{before}{printed}{after}") };
        prop_assert_eq!(read_cell(&signed, &column(ValueType::Money, "USD")), Ok(CellValue::Number { value: expected }));
    }

    /// The table reads again what it writes.
    #[test]
    fn a_cell_is_read_as_it_was_written(value in -1e15f64..1e15, year in 1000u16..3000, month in 1u8..13) {
        let number = CellValue::Number { value };
        prop_assert_eq!(read_cell(&number.to_string(), &column(ValueType::Number, "")), Ok(number));
        let date = CellValue::Date { year, month: Some(month) };
        prop_assert_eq!(read_cell(&date.to_string(), &column(ValueType::YearMonth, "")), Ok(date));
    }

    /// No text ends in a panic, whatever the column.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,24}", unit in "\\PC{0,8}") {
        for value_type in [ValueType::Number, ValueType::Percentage, ValueType::YearMonth, ValueType::Category] {
            let _ = read_stated(&text, &unit, &column(value_type, &unit));
        }
    }
}
