//! Chinese: regional hospitals.

use super::chinese_questions::ask;
use super::domain::{Domain, Scale, Wording, decimal, grouped};
use super::rng::Rng;
use super::table::{Column, Figures, Value, ValueType};

const fn column(key: &'static str, title: &'static str, value_type: ValueType, unit: &'static str) -> Column {
    Column { key, title, value_type, unit }
}

pub(super) static CHINESE: Domain = Domain {
    name: "health_zh",
    language: "zh",
    columns: [
        column("name", "名称", ValueType::Name, ""),
        column("region", "所在地区", ValueType::Category, ""),
        column("category", "医院类别", ValueType::Category, ""),
        column("founded", "建院时间", ValueType::YearMonth, ""),
        column("beds", "开放床位数", ValueType::Count, "张"),
        column("discharges", "出院人次", ValueType::Count, "人次"),
        column("doctors", "医师人数", ValueType::Count, "人"),
        column("revenue", "医疗收入", ValueType::Money, "CNY"),
        column("medicines", "药品支出", ValueType::Money, "CNY"),
        column("equipment_fund", "设备基金余额", ValueType::Money, "CNY"),
        column("occupancy", "病床使用率", ValueType::Percentage, "%"),
        column("satisfaction", "患者满意率", ValueType::Percentage, "%"),
        column("reviewed", "最近一次等级复审时间", ValueType::YearMonth, ""),
    ],
    regions: &["澜溪地区", "砚北地区", "栖霞岭地区", "东汀地区", "苇河地区", "鹿鸣川地区", "云埠地区"],
    sorts: &["综合医院", "中医医院", "妇幼保健院", "康复医院"],
    full_names: &["{n}医院", "{n}中心医院", "{n}协和医院", "{n}友谊医院"],
    place_name,
    unit_name,
    person,
    draw,
    prose,
    cell,
    ask,
    tenths_of_bytes_per_token: 24,
    part_spending_unit: 10_000,
    wording: WORDING,
};

fn place_name(rng: &mut Rng, more: usize) -> String {
    const FIRST: &[&str] = &[
        "砚", "澜", "汀", "芷", "栎", "岚", "棠", "溆", "霁", "苇", "鹭", "桐", "箬", "湄", "榆", "蓼", "洄", "杉",
        "屿", "茗", "槐", "沅", "荻", "麓", "渚", "枫", "葭", "皋", "漪", "翎",
    ];
    const LAST: &[&str] = &[
        "塘", "埠", "岭", "桥", "浦", "原", "洲", "坪", "湾", "渡", "川", "陂", "坞", "滩", "墟", "津", "冈", "汇",
        "堰", "沟",
    ];
    let middle: String = (0..more).map(|_| rng.pick(FIRST)).collect();
    format!("{}{middle}{}", rng.pick(FIRST), rng.pick(LAST))
}

fn unit_name(rng: &mut Rng) -> String {
    const UNITS: &[&str] = &[
        "心内科",
        "呼吸科",
        "骨科",
        "儿科",
        "妇产科",
        "神经内科",
        "普外科",
        "眼科",
        "肾内科",
        "老年科",
        "急诊科",
        "针灸科",
        "感染科",
        "泌尿科",
        "消化科",
        "康复科",
    ];
    rng.pick(UNITS).to_owned()
}

fn person(rng: &mut Rng) -> String {
    const FAMILY: &[&str] = &["岑", "阮", "褚", "荀", "闵", "殷", "栾", "邬", "聂", "蔺"];
    const GIVEN: &[&str] = &["书白", "望舒", "砚秋", "怀远", "听雨", "知微", "归帆", "令仪", "小满", "问渠"];
    format!("{}{}", rng.pick(FAMILY), rng.pick(GIVEN))
}

fn draw(rng: &mut Rng) -> Figures {
    let places = match rng.below(3) {
        0 => rng.between(90, 320),
        1 => rng.between(260, 800),
        _ => rng.between(600, 1_900),
    };
    let income = places * rng.between(320_000, 780_000) / 10_000 * 10_000;
    Figures {
        places,
        people: places * rng.between(2_100, 4_300) / 100,
        staff: 5 + places * rng.between(280, 520) / 1_000,
        income,
        spending: income / 10_000 * rng.between(180, 390) / 1_000 * 10_000,
        reserve: income / 10_000 * rng.between(25, 300) / 1_000 * 10_000,
        first_rate: rng.between(5_200, 9_900),
        second_rate: rng.between(7_800, 9_900),
    }
}

fn prose(value: &Value, scale: Scale) -> String {
    match (value, scale) {
        (Value::Text(text), _) => text.clone(),
        (Value::Count(n), Scale::Millions) if *n >= 10_000 => format!("{}万", decimal(*n, 4)),
        (Value::Count(n), _) => n.to_string(),
        (Value::Money(n), Scale::Thousands) if n.is_multiple_of(10_000) => format!("{}万元", n / 10_000),
        (Value::Money(n), Scale::Millions) if *n >= 10_000_000 => format!("{}亿元", decimal(*n, 8)),
        (Value::Money(n), _) => format!("{n}元"),
        (Value::Percentage(n), Scale::Whole) => format!("{}%", decimal(*n, 2)),
        (Value::Percentage(n), _) => format!("千分之{}", decimal(*n, 1)),
        (Value::Month(month), _) => format!("{}年{}月", month.year(), month.month()),
    }
}

fn cell(value: &Value, scale: Scale) -> (String, &'static str) {
    match (value, scale) {
        (Value::Count(n), _) => (grouped(*n), ""),
        (Value::Money(n), Scale::Thousands) if n.is_multiple_of(10_000) => (grouped(n / 10_000), "万元"),
        (Value::Money(n), Scale::Millions) => (decimal(*n, 8), "亿元"),
        (Value::Money(n), _) => (grouped(*n), "元"),
        (Value::Percentage(n), Scale::Whole) => (decimal(*n, 2), "%"),
        (Value::Percentage(n), _) => (decimal(*n, 1), "‰"),
        (Value::Text(_) | Value::Month(_), _) => (prose(value, scale), ""),
    }
}

const WORDING: Wording = Wording {
    titles: &["{n}2025年度报告", "{n}年度工作报告（2025）", "2025年的{n}"],
    openings: &[
        "这份报告写给把健康托付给我们的人。",
        "又是忙碌的一年，走廊里的灯几乎没有熄过。账目与人事，如实写在下面。",
        "数字不会说话，但会提醒。请读者把它们当作门诊里的化验单来看。",
        "每年春天，我们都照例写下这样一份报告，好的坏的，一并记上。",
    ],
    profile_headings: &["医院概况", "我们是谁", "基本情况"],
    work_headings: &["医疗工作", "这一年的数字", "病房与门诊"],
    money_headings: &["收支情况", "财务", "钱从哪里来，到哪里去"],
    unit_headings: &["各科室情况", "科室一览", "分科说明"],
    diary_headings: &["院内纪事", "这一年发生的事", "走廊见闻"],
    archive_headings: &["往年回顾", "历年数据"],
    outlook_headings: &["下一年的打算", "展望", "来年计划"],
    note_headings: &["更正", "付印后的补充说明", "勘误"],
    region: &[
        "{n}位于{v}，早年也曾在{o}设过门诊部，后来撤了。",
        "医院地处{v}。",
        "病人大多来自{v}，也有人从{o}坐半天车赶来；院址则一直在{v}。",
        "本院属{v}，并不像老地图上标的那样归{o}管辖。",
    ],
    sort: &[
        "按类别，本院是{v}；十年前曾有人提议改建为{o}，没有通过。",
        "本院类别为{v}。",
        "我们是一家{v}，与隔壁的{o}合用一个停车场。",
    ],
    founded: &[
        "医院建于{v}，住院楼到{o}才启用。",
        "建院时间是{v}，现存最早的病历写于{o}。",
        "{v}，两间平房、六张木床，医院就这样办了起来；{o}才通上自来水。",
    ],
    inspected: &[
        "最近一次等级复审在{v}通过，再上一次是{o}。",
        "等级复审专家组于{v}到院，复审合格；前一次来是{o}。",
        "最近一次通过等级复审的时间是{v}。",
    ],
    figures: [
        &[
            "2025年末全院开放床位{v}张，上年末为{p}张。",
            "到2025年12月31日，开放床位数为{v}张（2024年末：{p}张）。",
            "年末清点，开放床位共{v}张，一年前是{p}张。",
        ],
        &[
            "2025年出院病人{v}人次，2024年为{p}人次。",
            "全年出院{v}人次，上一年是{p}人次。",
            "2025年共送走康复出院者{v}人次（2024年：{p}人次），护士站的感谢信已经贴不下了。",
        ],
        &[
            "2025年末在岗医师{v}人，上年末{p}人。",
            "医师队伍到2025年末有{v}人，一年前为{p}人。",
            "年末医师人数为{v}人（2024年末：{p}人），仍嫌不够。",
        ],
        &[
            "2025年医疗收入{v}，上一年为{p}。",
            "全年医疗收入为{v}（2024年：{p}）。",
            "医疗收入方面，2025年共计{v}，2024年共计{p}。",
        ],
        &[
            "2025年药品支出{v}，2024年为{p}。",
            "买药花去{v}，上一年花去{p}；这就是2025年的药品支出。",
            "全年药品支出为{v}（2024年：{p}）。",
        ],
        &[
            "2025年末设备基金余额为{v}，年初为{p}。",
            "设备基金到2025年末结余{v}，上年末结余{p}。",
            "为添置设备攒下的基金，2025年末余额{v}（2024年末：{p}）。",
        ],
        &[
            "2025年病床使用率为{v}，上年为{p}。",
            "全年平均下来，病床使用率是{v}（2024年：{p}）。",
            "病床使用率从2024年的{p}变为2025年的{v}。",
        ],
        &[
            "2025年患者满意率为{v}，2024年为{p}。",
            "出院病人问卷显示，2025年满意率为{v}，上年为{p}。",
            "患者满意率2025年为{v}（2024年：{p}），扣分最多的仍是食堂。",
        ],
    ],
    work_remarks: &[
        "夜班最怕的不是忙，是静。",
        "床位紧的时候，走廊也住人；床位松的时候，院长也高兴。",
        "排队叫号的机器换了新的，声音比旧的温柔。",
    ],
    money_remarks: &[
        "审计没有提出保留意见，只说凭证订得太厚。",
        "每一笔支出都有两个人签字，其中一个总是很慢。",
        "账目经职工代表大会审议，无人反对。",
    ],
    table_intros: &["三年数据对照如下。", "下表列出近三年的情况：", "为便于比较，附三年数据："],
    unit_intros: &["床位分布在以下科室。", "各科室的家底如下：", "科室之间常有借床的事，下表以年末归属为准。"],
    archive_intros: &["以下为历年报告当时公布的数字。", "往年数据照原报告抄录："],
    indicator_headers: ["指标", "单位"],
    unit_headers: ["科室", "设立年份", "床位", "2025年药品（万元）"],
    year_header: "年份",
    profile_headers: ["项目", "内容"],
    side_costs: &[("人员经费", 341), ("水电费", 23), ("检验试剂", 87), ("后勤保障", 52), ("培训费", 6)],
    anecdotes: &[
        "{d}，{u}接诊了一位一百零一岁的老人，住了{k}天，出院时自己走下楼梯。",
        "{t}在{u}值满了第{k}个年头，{d}退休，留下一抽屉写满字的处方笺。",
        "{d}暴雨，{u}的地下库房进水，{k}名职工连夜搬药，损失{e}。",
        "{u}在{d}收到匿名捐款{e}，附言只有四个字：给孩子们。",
        "{t}牵头在{u}办起读书角，到{d}已有{k}位病人借过书。",
        "{d}，{u}的旧设备被拆成{k}件运走，卖得{s}。",
        "{u}与乡镇卫生院结对，{t}从{d}起下乡{k}次，路费共{s}。",
        "{d}停电的那个晚上，{u}靠{k}支手电完成了查房。",
        "{u}的饮水机终于在{d}修好了，花了{s}，{t}剪了彩。",
        "{d}，{k}名实习生到{u}报到，带教的是{t}。",
        "{u}门口的桂花{d}修剪过一次，{t}不肯让人多剪一枝。",
        "一封寄给{u}的感谢信在路上走了{k}天，{d}才送到{t}手里。",
        "{u}{d}试行预约探视，{k}户家属提了意见，{t}逐一回了电话。",
        "为{u}更换窗帘用去{e}，{d}完工，颜色由{k}位病人投票选出。",
    ],
    outlooks: &[
        "来年{u}要翻修，先期预留{e}。",
        "计划{d}前为{u}添置{k}张陪护椅。",
        "{t}将从{d}起负责新职工培训。",
        "食堂的问题，明年再不解决就说不过去了。",
        "是否扩建，留给职工代表大会讨论，不在本报告中作结论。",
        "{u}的夜间门诊拟于{d}试开，每周{k}个号。",
    ],
    errata: &[
        "**{d}更正：**本报告所载2025年{l}{w}有误，应为{v}。",
        "**{d}补充：**经审计，2025年{l}为{v}；报告其他地方写的{w}作废。",
        "**{d}勘误：**2025年{l}不是{w}，而是{v}。感谢来信指出的读者。",
    ],
    provisional: &[
        "{d}的简报曾把2025年{l}估为{w}，以本报告的数字为准。",
        "至于{d}流传的2025年{l}{w}，那只是快报数，已被本报告取代。",
    ],
    restated: &[
        "**{d}说明：**{y}年{l}由{w}追溯调整为{v}，2025年数字不受影响。",
        "**{d}说明：**早先的笔误，{y}年{l}应为{v}，不是{w}；此后各年无误。",
    ],
    gap: "",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::corpus::table::Month;

    #[test]
    fn values_are_written_in_the_unit_asked_for() {
        let money = Value::Money(123_450_000);
        assert_eq!(prose(&money, Scale::Whole), "123450000元");
        assert_eq!(prose(&money, Scale::Thousands), "12345万元");
        assert_eq!(prose(&money, Scale::Millions), "1.2345亿元");
        assert_eq!(prose(&Value::Count(12_840), Scale::Millions), "1.284万");
        assert_eq!(prose(&Value::Percentage(725), Scale::Millions), "千分之72.5");
        assert_eq!(prose(&Value::Month(Month::new(1961, 3)), Scale::Whole), "1961年3月");
    }
}
