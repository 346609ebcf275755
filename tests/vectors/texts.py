"""The texts of the vectors. All of them were written for this project."""

# Running prose: (id, what it tries, text).
ENGLISH = [
    (
        "ferry",
        "abbreviations, initials, titles, times and dialogue",
        """The ferry that Capt. E. J. Halloran had promised us for 6 a.m. came at a quarter to nine, and by then Mrs.
Pettibone had eaten all the eggs. "You said six," she told him. "I said six-ish," said the captain, "and I said it
before the fog." He had a point. Nobody argues with fog.

We were five: Dr. Quill and his sister, old Mr. Abernathy Jr. of Penrose & Co., the child, and I. The child was
called Bartholomew St. John Whitlow III, which he considered unfair; he answered to Bat. He had counted the posts of
the pier (No. 14 was missing), the gulls (31), and the coins in his pocket ($1.75 exactly). What he had not counted was
the luggage... and that, as we found out off the point, was short by one trunk.

"Which trunk?" asked Dr. Quill. "Not the green one?!" His sister looked at the water. "Miss Quill," he said, "please
tell me that it was not the green one." She did not tell him. The tide ran out at approx. 4 knots, the bell on the
buoy rang twice, and Mr. Abernathy, who had been a solicitor, began to take notes. They would fill pp. 3-11 of a book
that I own today, i.e. the only proof that any of this happened. (He spelled my name wrong throughout. I forgive him.)
""",
    ),
    (
        "letters",
        "headings, a list, an initialism before a capital, ellipses, a quotation inside a quotation",
        """CHAPTER II.

In Which Nothing Is Sold

The shop in Vine St. had belonged to the U.S. consul before it belonged to my aunt. The U.S. had closed the consulate in
Feb. 1903. Nobody in town could say why. My aunt, who disliked a mystery with rent attached, put up a sign:

    1. No credit.
    2. No dogs.
    3. No poets, novelists, etc.

"It is the third rule that costs us customers," said Prof. Lindqvist, M.A., Ph.D., who came in daily and bought nothing.
"My dear professor," said my aunt, "it is the third rule that saves us chairs." He bowed... He always bowed. "A wise man
wrote, 'Give a poet a chair and he will ask for the table.'" "Who?" "I did. In vol. 2, ch. 9, of a work that you don't
stock." She laughed at that; I had not heard her laugh since the winter.

At 3.30 the post came. There was one letter, addressed to J. R. Amory, Esq. That was my father. He had been dead for
eleven years. "Well," said my aunt at last, "open it." I did not want to. Would you?
""",
    ),
    (
        "inventory",
        "one very long sentence with commas, semicolons and colons between short ones",
        """She made the list at night. It ran like this: two lamps, one of them cracked; a map of the river, drawn
by hand, on which every mill was marked and half of the mills were wrong; eleven spoons, of which seven
were silver, three were tin, and one, the best of all, was made of a shell that her grandfather had found
on the day the railway came; a clock without hands, kept for its voice; a box of letters, tied with blue
wool, that nobody was to read before the year 1950; a saddle, although there had been no horse since
the flood; four chairs: the good one, the one for guests, the one with the short leg, and the one in
which her mother had waited; and, last of all, written smaller than the rest, a name. She read it twice. Then
she put out the lamp.

In the morning the list was gone. Who had taken it? The door was locked, the window was locked, and the
cat could not read.
""",
    ),
]

# (id, text): one difficulty each.
ENGLISH_SHORT = [
    ("titles", "Dr. Quill met Mrs. Pettibone and Capt. Halloran. Prof. Lindqvist stayed at home."),
    ("initials", "J. R. Amory wrote to E. Halloran. A. did not answer. Neither did B."),
    ("initialism-then-name", "The U.S. Senate met. He left the U.S. She stayed in the U.K. They wrote to each other."),
    ("time", "The boat left at 6 a.m. sharp. The next one left at 7 p.m. Nobody was on it."),
    ("number", "It weighed 3.5 lbs. and cost $12.40. That was too much. No. 7 was cheaper."),
    ("ordinal-number", "He finished 2. Then he rested. In 1987. In May."),
    ("ellipsis", "I thought... no. Perhaps... Perhaps not. Wait.... What was that?"),
    ("one-character-ellipsis", "She paused… then she went on. Then… Nothing."),
    ("spaced-ellipsis", "He began . . . and stopped. It was late . . . Too late."),
    ("quotes", '"Go!" she said. "Where?" he asked. "Home." They went.'),
    ("curly-quotes", "“Go!” she said. “Where?” he asked. “Home.” They went."),
    ("nested-quotes", "“She said, ‘Never.’ I believed her.” He shrugged. ‘Why?’ ‘Because.’"),
    ("brackets", "(It rained.) We stayed in. [The manuscript breaks off.] He never came back (or so they say.) Never."),
    ("marks", "What?! No!! Really??? Yes!?! Good."),
    ("no-space", "First.Second.Third!Fourth?Fifth."),
    ("newlines", "A heading\n\nThe text begins here\nand goes on. It ends.\n"),
    ("carriage-returns", "The first line.\r\nThe second\r\nline. The third.\r\n\r\nA new paragraph.\r\n"),
    ("tabs-and-spaces", "One.  Two.\tThree.   \n  Four.  "),
    ("no-break-space", "Mr.\u00a0Amory left.\u00a0He came back. It was 5\u00a0p.m. Nobody spoke."),
    ("months", "On Feb. 3 it snowed. On Sept. 9 it did not. We met in Oct. The leaves were red."),
    ("latin", "Bring food, e.g. bread, cheese, etc. We leave at noon. See vol. 2, pp. 3-4, i.e. the end. cf. below."),
    ("company", "Penrose & Co. bought it. Penrose & Co. The name was known. Amory Bros. Inc. sold it."),
    ("address", "She lived at 12 Vine St. in town. He lived on Mt. Orrin. St. John's is near."),
    ("degree", "A. Lindqvist, Ph.D., spoke. B. Quill, M.D. He listened."),
    ("web", "Write to aunt@vine-street.example. See www.example.org/index.html for more. Version 2.0.1 is out."),
    ("lower-case", "it was late. nobody came. i went home. e.g. on foot."),
    ("capitals", "STOP. DO NOT ENTER. MR. AMORY SAYS SO."),
    ("emoji", "We won! 🎉 Nobody believed it. 👍🏽 Then we lost. 😀😀"),
    ("accents", "Où est-il? Là-bas. El niño llegó. ¿Cuándo? Ayer. Größe 40. Schön."),
    ("mixed-scripts", "She said 你好。 Then she left. Он ушёл. Она осталась."),
    ("dashes", "He stopped -- and then -- nothing. She -- no. It was over.--And yet."),
    ("semicolons", "It rained; it snowed: it froze. Then spring came."),
    ("hyphen-abbreviation", "The F.B.I.-trained dog barked. The Y.M.C.A. hall was shut. O. Henry wrote it."),
    ("long-token", "Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaah. Quiet."),
    ("mark-alone", ". ! ? ..."),
    ("one-letter", "I."),
    ("empty", ""),
    ("blank", " \n\t "),
]

CHINESE = [
    (
        "渡口",
        "对话、省略号、引号、书名号、括号",
        """渡口的老周说，船六点开。我们六点到，船没有来；七点，船还是没有来。“雾太大了。”老周说，“船夫也要看得见路嘛！”
“水上哪里有路？”小满问。老周想了想，笑道：“有的，只是你看不见。”

那天一共等了五个人：卖灯笼的何先生、他的两个徒弟、小满，还有我。何先生带了三只箱子（其中一只是空的），箱子上写着《渡河记》
三个字。我问他那是什么书，他说：“还没写完呢……等写完了，箱子就满了。”徒弟们都笑了起来。

九点一刻，雾散了。船从对岸慢慢过来，船头站着一个人，手里提着一盏绿灯。“是她吗？”小满轻声问。没有人回答。……灯灭了。

后来的事，我记得不太清楚了——只记得水声，记得何先生打开那只空箱子，说了一句：“够了。”他说够了！可是箱子里，分明什么也没有。
""",
    ),
    (
        "信",
        "标题、繁体引号、数字、中英混排",
        """第二章　没有寄出的信

民国十二年三月三日，邮差送来一封信。信封上写着「林默先生　親啟」，可是林默早在十一年前就去世了。

姑母說：「打開吧。」我不肯。「打開！」她又說了一遍。我拆開信，裏面只有一張車票，票價是$1.75，上面印著No. 14和一行英文：Not valid after dark.

“什么意思？”表弟问，“天黑以后不能用？”姑母把车票翻过来，背面写着一个字：“等”。等谁？等什么？等到什么时候？！没有人知道。
钟敲了四下，姑母站起来，去关店门了。
""",
    ),
]

CHINESE_SHORT = [
    ("句号", "天黑了。他还没有回来。"),
    ("问叹", "你是谁？你怎么进来的！快说！"),
    ("连用", "什么？！不会吧！！真的吗？？？真的。"),
    ("引号内句末", "“快走！”她喊道。“去哪儿？”“回家。”"),
    ("引号后逗号", "“快走！”，她喊道，“来不及了。”"),
    ("单引号", "他说：‘别怕。’我说：‘我不怕！’然后灯灭了。"),
    ("直角引号", "「你來了？」她問。「來了。」他答。『好。』"),
    ("省略号", "他想了很久……没有说话。灯……灭了。"),
    ("省略号引号", "“我……”她说不下去了。“算了……”他叹了口气。"),
    ("英文省略号", "他等啊等......没有人来。...后来呢?"),
    ("六点省略号", "他等啊等......然后走了。"),
    ("分号冒号", "一盏灯；两把椅子；三个人：都在等。"),
    ("括号", "（雾散了。）船来了。【下文缺】她笑了（也许没有）。"),
    ("方括号", "[第一页。]开始。(第二页！)继续。"),
    ("书名号", "《渡河记》写完了吗？还没有。《信》呢？"),
    ("换行", "第一行没有标点\n第二行有。\n\n第三段\r\n第四行。"),
    ("全角空格", "　　那年冬天很冷。　　河都冻住了。"),
    ("中英混排", "Dr. Quill来了。他说Hello!我说OK.大家都笑了。"),
    ("数字", "票价1.75元。一共14.5公里。3.14是圆周率。"),
    ("英文问号", "你去吗?我不去!为什么?"),
    ("破折号", "他说——其实什么也没说——就走了。——真的？"),
    ("表情", "我们赢了！🎉没人相信。👍🏽好。"),
    ("波浪号", "好呀～走吧～马上就来。"),
    ("句末多引号", "他问：“你听见她说‘好。’了吗？”我点头。"),
    ("无标点", "没有标点的一句话"),
    ("单字", "好"),
    ("只有标点", "。！？"),
    ("空", ""),
    ("空白", " \n　\t"),
]

# Token ids only: what tokenizers stumble over.
TOKENS = [
    ("spaces", "a  b   c    d\t\te"),
    ("trailing-space", "the end "),
    ("line-ends", "one\r\ntwo\n\n\nthree\r"),
    ("contractions", "I'm sure they'd've said it isn't; we'll see, WE'LL SEE."),
    ("digits", "7 77 777 7777 77777 3.14159 1,000,000 12:30 2026-11-21"),
    ("code", "fn main() {\n    println!(\"{:?}\", vec![1, 2, 3]);\n}\n"),
    ("markup", "<p class=\"x\">A &amp; B</p> [link](https://example.org/?q=1&r=2)"),
    ("special-token-text", "<|endoftext|> is text here, and so are <|im_start|>, [CLS], [SEP], [MASK] and <s>."),
    ("emoji", "👍🏽 👨‍👩‍👧‍👦 🇨🇭 ❤️ 🎉🎉"),
    ("combining", "e\u0301 and \u00e9, a\u0308 and \u00e4, n\u0303"),
    ("zero-width", "zero\u200bwidth\ufeff and soft\u00adhyphen"),
    ("scripts", "Привет, Ελλάδα, שלום, مرحبا, नमस्ते, สวัสดี, こんにちは, 안녕하세요, 你好"),
    ("rare-han", "𠮷野家の丼、龘龘、㐀㐁"),
    ("private-use", "\ue000\uf8ff\U000f0000"),
    ("control", "a\u0000b\u0007c\u001bd\u007f"),
    ("long-word", "Donaudampfschifffahrtsgesellschaftskapitän" * 4),
    ("repeated", "ha" * 120),
    ("full-width", "ＡＢＣ １２３ ！？"),
    ("punctuation", "!!!???...---===###***~~~^^^(((((())))))"),
    ("mixed-line", "第3章 Chapter 3: 她说“OK”, then left—at 5:30！"),
]

# Passages only: caps that pack oddly.
PACKING = [
    (
        "long-first",
        "a sentence over the cap at the very start",
        "The road went up past the mill, past the school, past the house with the red door, past the well that was dry, "
        "past the place where the fair used to be, past the last lamp, and then, without a sign, without a fence, it was "
        "not a road any more. We stopped. Nobody spoke. It was noon.",
    ),
    (
        "long-between",
        "a sentence over the cap while a passage is open",
        "It was noon. We sat down. The child had brought bread, cheese, two apples, a knife without a point, a flask of "
        "tea, a second flask, which held nothing, and a letter; the letter was for me; it was short: it said that the house "
        "was sold, that the dog was well, that the clock had stopped, and that I should not come. I read it. I ate the "
        "apple. We went on.",
    ),
    (
        "no-delimiter",
        "a sentence over the cap that cannot be split",
        "and then the wind came over the hill and took the hats and the papers and the words out of our mouths and carried "
        "them all down to the sea where nobody would ever look for them again",
    ),
    ("lines", "line ends as delimiters, one of them CRLF", "A heading\n\nOne line\r\nanother line\n\n\n  an indented line  \nthe end"),
    ("marks", "runs of marks", "No!! No... Why?! 3.50 or 4.75? Mr. Quill, J. R. Amory. Etc."),
    ("emoji", "characters of four bytes", "We won! 🎉🎉 Nobody believed it. 👍🏽 Then, in the rain, 😀 we lost. 你好。"),
]
