//! Chinese in its two scripts.

/// The simplified form of a traditional character, of those that judges look for; any other character as it is.
pub(crate) fn simplified(c: char) -> char {
    const FORMS: [(char, char); 27] = [
        ('個', '个'),
        ('幾', '几'),
        ('麼', '么'),
        ('誰', '谁'),
        ('裡', '里'),
        ('裏', '里'),
        ('為', '为'),
        ('時', '时'),
        ('樣', '样'),
        ('發', '发'),
        ('說', '说'),
        ('話', '话'),
        ('負', '负'),
        ('貳', '贰'),
        ('陸', '陆'),
        ('萬', '万'),
        ('億', '亿'),
        ('兩', '两'),
        ('餘', '余'),
        ('來', '来'),
        ('確', '确'),
        ('對', '对'),
        ('錯', '错'),
        ('誤', '误'),
        ('選', '选'),
        ('項', '项'),
        ('擇', '择'),
    ];
    FORMS.iter().find(|(traditional, _)| *traditional == c).map_or(c, |(_, simple)| *simple)
}
