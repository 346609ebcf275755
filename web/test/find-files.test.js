// Files that Find opens: what is no book, web pages, EPUBs, other encodings.

import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import { ask, column } from "./finding.js";
import { test } from "./fixtures.js";
import { openBook } from "./harness.js";

test.use({ route: "#/find" });

test("files that are no book are named for what they are; a web page is read without its markup", async ({ page }) => {
    const refused = async (name, bytes, expected) => {
        await page.setInputFiles("#file", { name, mimeType: "application/octet-stream", buffer: Buffer.from(bytes) });
        await page.waitForFunction((source) => new RegExp(source).test(document.querySelector("#problem").textContent), expected.source);
    };
    await refused(
        "letter.docx",
        zip([
            ["[Content_Types].xml", "<Types/>"],
            ["word/document.xml", "<w/>"],
        ]),
        /a Word document, not an EPUB: save it as \.txt or \.epub/,
    );
    await refused("broken.epub", "Once upon a time.", /no ZIP archive, not an EPUB/);
    await refused(
        "half.epub",
        zip([
            ["mimetype", "application/epub+zip"],
            ["META-INF/container.xml", "<c/>"],
        ]).subarray(0, 90),
        /damaged archive/,
    );
    await openBook(page, {
        name: "page.html",
        bytes: "<!doctype html><html><head><title>x</title><style>p{color:red}</style></head><body><p>Ana lit the lamp.</p><script>alert(1)</script></body></html>",
    });
    assert.match(await page.textContent("#status"), /HTML/);
    await ask(page, "lamp");
    assert.equal((await column(page, "book"))[0].text, "Ana lit the lamp.");
});

/** A ZIP archive without compression. */
function zip(entries) {
    const [bodies, directory] = [[], []];
    let offset = 0;
    for (const [name, text] of entries) {
        const [file, data] = [Buffer.from(name), Buffer.from(text)];
        const common = Buffer.alloc(26);
        [20, 0, 0, 0, 0x21].forEach((word, n) => common.writeUInt16LE(word, 2 * n));
        common.writeUInt32LE(crc32(data), 10);
        common.writeUInt32LE(data.length, 14);
        common.writeUInt32LE(data.length, 18);
        common.writeUInt16LE(file.length, 22);
        const tail = Buffer.alloc(14);
        tail.writeUInt32LE(offset, 10);
        bodies.push(Buffer.from("PK\x03\x04"), common, file, data);
        directory.push(Buffer.from("PK\x01\x02\x14\x00"), common, tail, file);
        offset += 30 + file.length + data.length;
    }
    const end = Buffer.alloc(18);
    end.writeUInt16LE(entries.length, 4);
    end.writeUInt16LE(entries.length, 6);
    end.writeUInt32LE(Buffer.concat(directory).length, 8);
    end.writeUInt32LE(offset, 12);
    return Buffer.concat([...bodies, ...directory, Buffer.from("PK\x05\x06"), end]);
}

test("an EPUB is read chapter by chapter", async ({ page }) => {
    const xml = '<?xml version="1.0"?>';
    const chapter = (text) => `${xml}<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><p>${text}</p></body></html>`;
    await openBook(page, {
        name: "b.epub",
        title: "Harbour",
        bytes: zip([
            ["mimetype", "application/epub+zip"],
            [
                "META-INF/container.xml",
                `${xml}<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="b.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`,
            ],
            [
                "b.opf",
                `${xml}<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="i"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="i">b</dc:identifier><dc:title>Harbour</dc:title><dc:language>en</dc:language><meta property="dcterms:modified">2026-01-01T00:00:00Z</meta></metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="c"/><itemref idref="a"/></spine></package>`,
            ],
            ["a.xhtml", chapter("Ana lit the lamp.")],
            ["c.xhtml", chapter("The boats stayed &amp; waited.")],
        ]),
    });
    assert.match(await page.textContent("#status"), /EPUB/);
    await ask(page, "lamp boats");
    assert.match((await column(page, "book"))[0].text, /The boats stayed & waited\. Ana lit the lamp\./);
});

test("a dropped Chinese book in GB18030 is read and searched", async ({ page }) => {
    // 船 = B4AC, 灯 = B5C6, 亮 = C1C1, 了 = C1CB, 。= A1A3, 海 = BAA3, 静 = BEB2
    const sentence = [0xb4, 0xac, 0xb5, 0xc6, 0xc1, 0xc1, 0xc1, 0xcb, 0xa1, 0xa3, 0xba, 0xa3, 0xbe, 0xb2, 0xc1, 0xcb, 0xa1, 0xa3];
    await page.evaluate((bytes) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([new Uint8Array(bytes)], "灯.txt"));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }, Array.from({ length: 40 }, () => sentence).flat());
    await page.waitForFunction(() => /^灯: .*Chinese, gb18030/i.test(document.querySelector("#status").textContent));
    await ask(page, "船灯");
    assert.match((await column(page, "book"))[0].text, /船灯亮了/);
});
