//! Articles about two novels of the shared data, written for tests.

/// Article in wikitext, with two sections to ask about.
pub(crate) const INVISIBLE_MAN: &str = "\
{{Infobox book | name = The Invisible Man}}
'''The Invisible Man''' is a novel by [[H. G. Wells]].

== Plot ==
On a day of snow in February a stranger comes on foot to the [[inn]] of Mrs Hall at Iping. His head is wrapped in bandages, \
he wears blue glasses and gloves, he pays in advance and asks to be left alone with the bottles that the carrier brings. The \
vicarage is robbed by somebody whom nobody sees. When the landlady presses him for her money he takes the bandages off, and \
there is nothing under them. He flees over the downs, makes the tramp Thomas Marvel carry his three notebooks and the money \
that he steals, and is betrayed by him at Port Stowe and in the inn The Jolly Cricketers.<ref>A chapter each.</ref>

== Kemp ==
Wounded, the man enters the house of Doctor Kemp at Burdock, whom he knows from his student days, and tells him that he is \
Griffin, who made first a cat and then himself invisible in a lodging in Great Portland Street, and burned the house down \
behind him. He wants Kemp's help for a reign of terror. Kemp, who has already written to Colonel Adye of the police, lets \
the police in; Griffin gets away, kills a Mr Wicksteed with an iron rod, besieges Kemp's house and is beaten to death in the \
street by navvies, where his body can slowly be seen again. Marvel keeps an inn and, behind a locked door, the notebooks.

== See also ==
* [[Gyges]]
";

/// Article in HTML, with two sections to ask about.
pub(crate) const LAOCAN: &str = "<html><body><h1>老残游记</h1><p>刘鹗所作小说。</p>
<h2>情节</h2><p>江湖郎中老残摇着串铃行医，先在梦中见一条大船将沉，送去罗盘反被当作汉奸。他到济南府，游大明湖，在明湖居听白妞说书，\
又治好了高公馆中人的喉病。巡抚庄宫保要留他做官，他不肯，夜里离开，往曹州府去看玉贤的官声。玉贤以清官自居，衙门前的十二架站笼\
一年里站死了两千多人，于朝栋一家因强盗栽赃而冤死。老残写信给庄宫保，荐刘仁甫出来维持地方。申子平奉命进山请人，夜宿玙姑家，\
听黄龙子谈论天下大势，弹琴吹箜篌。</p>
<h2>齐河县</h2><p>老残到齐河县，黄河结冰不能渡，遇见旧友黄人瑞，又认识了妓女翠环和翠花，听翠环说起当年决堤淹死无数百姓的事。\
齐东镇贾家十三口人中毒而死，刚弼自命清廉，把魏氏父女严刑逼供，认作凶手。老残闯上公堂，请白子寿来重审，又私下访查，知道是\
吴二浪子用“千日醉”害人，最后求得青龙子的返魂香，救活了贾家的人。案子了结，老残娶了翠环，送家人回南方去。</p>
<h2>参考文献</h2><ul><li>原书</li></ul></body></html>
";
