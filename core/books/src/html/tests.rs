use super::*;
use proptest::prelude::*;

fn book(html: &str, text: &str) {
    assert_eq!(to_text(html, Layout::Book), text, "{html}");
}

fn page(html: &str, text: &str) {
    assert_eq!(to_text(html, Layout::Page), text, "{html}");
}

fn both(html: &str, text: &str) {
    book(html, text);
    page(html, text);
}

#[test]
fn blocks_are_paragraphs() {
    both("<h1>I</h1><p>One.</p>\n  <p>Two.</p><div><div>Three.</div></div>", "I\n\nOne.\n\nTwo.\n\nThree.");
    both("<ul><li>a</li><li>b</li></ul>after", "a\nb\n\nafter");
    both("<p>a<p>b<ul><li>c<li>d</ul>e", "a\n\nb\n\nc\nd\n\ne");
    both(
        "<!DOCTYPE html\n  \"x\">\n<html lang=\"en\">\n <head><title>No</title></head><h1>\n  THE MILL\n </h1>\n<hr class=\"chap\"/>\n<p>\n By\n <br/>\n ANA\n</p>\n<p>It was <i>very</i>\nlate.</p></html>",
        "THE MILL\n\nBy\nANA\n\nIt was very late.",
    );
}

#[test]
fn cells_are_parted_as_the_layout_says() {
    let table = "<table><tr><td>1</td><td>2</td></tr><tr><th>3</th><td></td><td>4</td></tr></table>";
    book(table, "1\t2\n3\t\t4");
    page(table, "1 2\n3 4");
    assert_eq!(to_text(table, Layout::Markdown), "| 1 | 2\n| 3 | | 4");
}

#[test]
fn inline_tags_neither_add_nor_take_spaces() {
    both("<p>un<em>believ</em>able, <b>quite</b> <i>so</i>!</p>", "unbelievable, quite so!");
    both("<p>\n  a<span> b </span>\n  c </p>", "a b c");
    both("<p>the <a href=\"x>y\" title='a > \"b\"'>a</a>, b</p>", "the a, b");
}

#[test]
fn a_quotation_has_its_marks() {
    both("<p>She said <q>Go, he said <q lang='de'>no</q></q>.</p>", "She said “Go, he said ‘no’”.");
    both("<p><q><b>Go</b> </q> now<q></q><q/>. <q>“Yes”</q> <q> <img alt='N'>o</q></p>", "“Go” now. “Yes” “No”");
    both("<p>“<q>Go</q>”, he said, «<q>now</q>» <q>so</q></p>", "“Go”, he said, «now» “so”");
    both("<p>a <q>b<p>c <q>d</q></q></p><script><q>no</q></script>", "a “b\n\nc “d”");
    book("<table><tr><td><q>a</q><td>b</table>", "“a”\tb");
}

#[test]
fn what_was_changed_and_what_is_pressed_are_words_of_their_own() {
    both(
        "<p>It costs <del>77</del><ins>88</ins> pounds, un<ins>believ</ins>able",
        "It costs 77 88 pounds, unbelievable",
    );
    both("<p><ins>1</ins><s>2</s> <del>x</del>, <s>no</s><s>t</s>", "1 2 x, not");
    both("<p>Total<button>Copy</button>5</p>", "Total Copy 5");
}

#[test]
fn line_breaks_break_lines() {
    both("<p>one<br/>two<br>\n  three</p><p>four<br/><br/>five</p>", "one\ntwo\nthree\n\nfour\n\nfive");
    both("<pre>a  b\n  c</pre>", "a  b\n  c");
    both("<p>x</p><pre>  INT. ROOM\n\n   <b>ANA</b>\n</pre><p>y  z", "x\n\n  INT. ROOM\n\n   ANA\n\ny z");
    both("<p>x<pre>\n\n  <b>ANA</b>\r\n  <br>goes</pre>", "x\n\n  ANA\n  \ngoes");
}

#[test]
fn entities_are_characters() {
    book(
        "<p>Caf&eacute; &amp; &#8220;th&#xe9;&#x201D;&nbsp;&mdash; it&#146;s &lt;b&gt; AT&T &unknown;</p>",
        "Café & “thé”\u{A0}— it’s <b> AT&T &unknown;",
    );
    page("caf&eacute; &amp;amp; &lt;b&gt; &#8212;&#x2014;&#151;", "café &amp; <b> ———");
    page("a &yuml;&nbsp;b &unknown; R&D; 1 < 2 & 3", "a ÿ b &unknown; R&D; 1 < 2 & 3");
    both("&CounterClockwiseContourIntegral;&NotEqualTilde;", "∳≂̸");
    both(
        "1920&ndash21 &copy 2020 &notit; &; &#; &#x; &#99999999999; &#xD800; &#0;",
        "1920&ndash21 © 2020 ¬it; &; &#; &#x; � � �",
    );
    both("<p>&</p>", "&");
    both("&#128", "€");
}

#[test]
fn entities_that_a_document_declares_are_their_texts() {
    let of = |subset: &str, body: &str| {
        format!("<?xml version='1.0'?><!DOCTYPE html [{subset}]>\n<html><p>{body}</p></html>")
    };
    let names = "<!ENTITY nbsp \"&#160;\"><!ENTITY hero 'Ana ]> Bell'><!ENTITY hero 'Bo'>\n<!ENTITY both \"&hero;, <i>Cy</i>\">";
    book(&of(names, "&hero;&nbsp;and &both; &caf&eacute;;"), "Ana ]> Bell\u{A0}and Ana ]> Bell, Cy &café;");
    both(
        &of("<!ENTITY lt '&#38;#60;'><!-- <!ENTITY a 'b'> ' --><!ENTITY % c 'd'>", "1 &lt; 2 &a; &c;"),
        "1 < 2 &a; &c;",
    );
    let laughs: String = (1..20).map(|n| format!("<!ENTITY l{n} '{}'>", format!("&l{};", n - 1).repeat(10))).collect();
    let text = to_text(&of(&format!("<!ENTITY l0 'ha'>{laughs}"), &"&l19; &l5; ".repeat(100)), Layout::Book);
    assert!(text.contains("hahaha") && text.len() < 4 << 20, "{} bytes", text.len());
}

#[test]
fn what_is_not_shown_is_left_out() {
    both(
        "<?xml version='1.0'?><!DOCTYPE html [<!ENTITY x \"<y>\">]><html><head><title>T</title></head><body>\
        <script>if (a < b) { \"<p>no</p>\" }</script><style>p > a {}</style><!-- <p>no</p> --><nav><ol><li>no</li></ol></nav>\
        <p>yes</p></body></html>",
        "yes",
    );
    both("<p>a</p><!-- <p>b</p> --><script>if (1 < 2) x</script><p>c", "a\n\nc");
    both("<p>a<svg><text>no</text></svg>b</p><div role='navigation'><div>no</div></div>", "ab");
    both("<p>a<span hidden>no</span><i style='color: red; display : none'>no</i>b</p>", "ab");
    both("<p>the <span epub:type=\"pagebreak\" id=\"p12\">12</span>end</p>", "the end");
    both("<p>x <a role='doc-pagebreak'/>a</p><h1 class='pagebreak-before'>b</h1>", "x a\n\nb");
    both("<h2>Plot<span class='mw-editsection'>[edit]</span></h2>It<sup class='reference'>[1]</sup>", "Plot\n\nIt");
}

#[test]
fn raised_digits_make_no_other_number() {
    both(
        "<p>10<sup>-6</sup> and 1,234<sup><a href='#n'>15</a></sup>, in 1984<sup> 3</sup>.",
        "10⁻⁶ and 1,234¹⁵, in 1984 ³.",
    );
    both("<p>The 1<sup>st</sup> of 5 <sup>2</sup>m<sup>2</sup>, 7<sup/>8", "The 1st of 5 2m2, 78");
    both("<p>3<sup>9<p>4", "3⁹\n\n4");
    both("<p>10<sup>–6</sup>, 5<sup>1–3</sup>, 1–3", "10⁻⁶, 5¹⁻³, 1–3");
    both(
        "<p><sup>1</sup>2,345 and <sup>2</sup> 2019, log<sub>2</sub>8, 1 <sup>1</sup>/<sub>2</sub>, x<sub>1</sub><sup>2</sup>",
        "¹2,345 and 2 2019, log2 8, 1 1/2, x1²",
    );
    both(
        "<p><span style='vertical-align:super'>1</span>2,345 <a role='doc-noteref'>2</a>2019 <a role='doc-noteref'><sup>3</sup></a>1",
        "¹2,345 ²2019 ³1",
    );
    let marks =
        "<p>In 1850<a epub:type='noteref' href='#n'>3</a>, in 1851<a class='x' role='doc-noteref' href='#m'>4</a>";
    both(&format!("{marks} and in 185<a href='#o'>2</a>."), "In 1850³, in 1851⁴ and in 1852.");
    both("<p>9<sup><a epub:type='noteref'>1</a>,2</sup> 7<a epub:type='noteref'><sup>3</sup></a>4", "9¹,² 7³4");
    let styled = "<p>1,234<span style='font-size: 60%; vertical-align: super'>1</span> 5<font style='VERTICAL-ALIGN:super'>2</font>6";
    both(&format!("{styled} 7<span style='vertical-align: sub'>8</span>"), "1,234¹ 5²6 78");
    let moved = |top: &str| {
        format!("<p>1,234<span style='font-size:6pt; position:relative; top:{top}; vertical-align:baseline'>1</span>")
    };
    both(&moved("-3.5pt"), "1,234¹");
    both(&moved("2pt;margin-top:-1pt"), "1,2341");
    let named = "<p>In 1850<span class='x Super'>3</span>, in 1851<a class='footnote-ref' href='#n'>4</a>";
    both(&format!("{named}, <i class='supper'>18</i>52"), "In 1850³, in 1851⁴, 1852");
    let formulas = "<p><math><msup><mn>10</mn><mn>6</mn></msup><mo>·</mo><mfrac><mn>1</mn><mn>2</mn></mfrac></math>";
    both(&format!("{formulas} 12"), "10⁶·1/2 12");
    let mixed = "<math><mn>3</mn><mfrac><mn>1</mn><mrow><mn>2</mn></mrow></mfrac></math>";
    let small = "<math><mn>2</mn><msup><mn>10</mn><mrow><mo>−</mo><mn>6</mn></mrow></msup></math>";
    both(&format!("<p>{mixed}, {small} 12"), "3 1/2, 2 10⁻⁶ 12");
}

#[test]
fn the_readings_of_ruby_are_left_out_closed_or_not() {
    both("<p><ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby></p>", "漢字");
    both("<ruby>漢<rp>(<rt>かん<rp>)</ruby>字", "漢字");
}

#[test]
fn what_ends_without_its_tag_takes_nothing_with_it() {
    both("<html><head><title>T</title><meta x><p>a", "a");
    both("<title>T</title><p>a<title>b</title>", "a\n\nb");
    both("<body><div><nav><a>no</a></div><p>a", "a");
    both("<nav><ul><li>no<li>no<nav>no</nav>no</ul></nav>a", "a");
}

#[test]
fn xhtml_closes_elements_at_once() {
    both("<p>a<script/>b<style/>c<iframe/>d</p>", "abcd");
    both("<html><head><title/></head><body>a<p/>b<pre/>c  d</body></html>", "a\n\nb\n\nc d");
    both("<head/><p>a</p><?dp n=\"12\"?><p>b</p>", "a\n\nb");
    both("<p>x<![CDATA[raw & <b> &amp;]]> text</p>", "xraw & <b> &amp; text");
    both(
        "<?xml-stylesheet href=\"a>b\"?><!-- > --><!DOCTYPE html PUBLIC \"a\" \"b\" [\n<!ENTITY % x \"]\">\n]>\n<p>a</p>",
        "a",
    );
}

#[test]
fn broken_markup_is_read_as_far_as_it_goes() {
    both("<p>a < b, 1<2 <b>bold", "a < b, 1<2 bold");
    both("<p>open <a href=\"", "open");
    both("text <!-- never closed", "text");
    both("text <script>never closed <p>", "text");
    both("a</nothing></p></p>b</>c</ d>", "a\n\nbc");
    both("<![CDATA[", "");
    both("a <", "a <");
    both("a\0b", "ab");
    both("", "");
}

#[test]
fn tables_and_headings_stay_what_they_are_in_markdown() {
    let check = |html: &str, text: &str| assert_eq!(to_text(html, Layout::Markdown), text, "{html}");
    check(
        "<h2>Sales</h2><table><tr><th>Year</th><th><p>USD</p></th></tr><tr><td>2024</td><td> 1,200 </td></tr></table><p>End",
        "## Sales\n\n| Year | USD\n| 2024 | 1,200\n\nEnd",
    );
    check("<tr><td><h3>a</h3><ul><li>b<br>c</ul><td>d|e</table>f|g", "| a b c | d\\|e\n\nf|g");
    check("<td>a<table><tr><td>b</table><td>c", "| a\n\n| b\n\n| c");
    check("<h1></h1><h2> <i>x</i></h2><p>| y", "## x\n\n| y");
    check(
        "<table><tr><th rowspan=2>Year<th colspan=2>USD<th>EUR<tr><th>a<th>b<th>c<tr><td rowspan='2'>2021<td>7<tr><td>8</table>",
        "| Year | USD | | EUR\n| | a | b | c\n| 2021 | 7\n| | 8",
    );
    check("<table><tr><td colspan=0>a<td colspan=9999999>b<td rowspan=x>c", &format!("| a | b{} | c", " |".repeat(98)));
}

#[test]
fn sections_begin_at_headings() {
    let of = |html: &str| {
        let sections = sections(html, Layout::Page);
        sections.into_iter().map(|(heading, text)| format!("{heading}: {text}")).collect::<Vec<_>>()
    };
    assert_eq!(of("a<h2>B <i>c</i></h2><p>d</p><p>e<h3>f</h3>g"), [": a", "B c: d\n\ne", "f: g"]);
    assert_eq!(of("<!-- <h2>no</h2> --><h2>A<h3>B<p>c"), [": ", "A: ", "B: c"]);
    assert_eq!(of("<h2>A"), [": ", "A: "]);
    assert_eq!(of(""), [": "]);
}

#[test]
fn pages_are_told_from_plain_texts() {
    assert!(is_page("\n<!DOCTYPE HTML PUBLIC \"x\">"));
    assert!(is_page("<p>a</p>"));
    assert!(!is_page("<!-- $Id: header.txt -->\n\nA story with <i>one</i> tag."));
    assert!(!is_page(""));
    assert!(!is_page(&"é".repeat(1_500)));
}

/// Tags, entities and stray signs that meet in ways nobody thought of.
fn scraps() -> impl Strategy<Value = String> {
    let scraps = prop::sample::select(vec![
        "<",
        ">",
        "</",
        "/>",
        "&",
        ";",
        "&#",
        "&#x",
        "x",
        "é",
        "渡",
        " ",
        "\n",
        "\r",
        "\0",
        "\u{feff}",
        "\"",
        "'",
        "=",
        "-->",
        "<!--",
        "<!",
        "<?",
        "?>",
        "<![CDATA[",
        "]]>",
        "<!DOCTYPE html [",
        "]>",
        "&amp",
        "&nbsp;",
        "&notin",
        "&#150;",
        "<p>",
        "</p>",
        "<q>",
        "</q>",
        "<ins>",
        "</del>",
        "<p/>",
        "<br>",
        "<pre>",
        "</pre>",
        "<table>",
        "<tr>",
        "<td>",
        "</td>",
        "<h2>",
        "</h2>",
        "<head>",
        "<title>",
        "<script>",
        "</script>",
        "<nav>",
        "</nav>",
        "<rt>",
        "<svg ",
        "<a href=",
        " hidden",
        "<plaintext>",
        "|",
    ]);
    prop::collection::vec(scraps, 0..40).prop_map(|scraps| scraps.concat())
}

proptest! {
    #[test]
    fn any_markup_is_read(html in scraps()) {
        for layout in [Layout::Book, Layout::Page, Layout::Markdown] {
            let text = to_text(&html, layout);
            prop_assert_eq!(text.trim_end(), &text);
            let _ = sections(&html, layout);
        }
    }

    #[test]
    fn of_a_text_without_markup_only_white_space_changes(text in "[a-zéß渡。|#\\-;>\"\u{a0}\u{3000} \t\r\n]{0,80}") {
        for layout in [Layout::Book, Layout::Page] {
            let read = to_text(&text, layout);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(words(&read), words(&text));
        }
        prop_assert_eq!(to_text(&text, Layout::Page), text.split_whitespace().collect::<Vec<_>>().join(" "));
    }
}

#[test]
fn a_prefix_that_stands_for_xhtml_is_none() {
    book(
        "<h:html xmlns:h='http://www.w3.org/1999/xhtml' xmlns:s='http://www.w3.org/2000/svg'><h:head><h:title>No</h:title>\
         <h:style>p{}</h:style></h:head><h:body><h:p>One.</h:p><h:p>Two<h:br/>lines.<s:svg><s:title>a map</s:title></s:svg>\
         </h:p><h:script>x()</h:script></h:body></h:html>",
        "One.\n\nTwo\nlines.",
    );
    book("<p>an <o:p>x</o:p>y</p><p>one <h:p>z</h:p></p>", "an xy\n\none z");
}

#[test]
fn an_ornamented_initial_is_the_first_letter_of_its_word() {
    both("<p><img src='t.png' alt='T'/>he end. <img alt='“I'>t was</p>", "The end. “It was");
    both("<p><span><img alt=' A '></span><span>LL</span> was well</p>", "ALL was well");
    // A picture of its own, one whose letter stands there for those who do not see it, and one with words.
    both("<div><img alt='T'></div><p>he end</p>", "he end");
    both("<p><img alt='T'><span class=hidden>T</span>he end <img alt='A'> b <img alt='Map'>c</p>", "The end b c");
    both("<p><img alt='T'><br>he <img alt='x'>y</p>", "he y");
}

#[test]
fn numbers_of_printed_pages_are_left_out() {
    both("<p>one <span class='pagenum'>[Pg 7]</span>two <a class='x pageno' id=p8>8</a>three</p>", "one two three");
}
