//! The text of PDF files.

mod apart;
mod pages;
mod rewrite;

pub use apart::begin;

use anyhow::{Result, bail};
use closeread_books::MAX_BOOK_BYTES;
use flate2::read::ZlibDecoder;
use memchr::memmem;
use pages::PdfText;
use std::io::{Read, copy, sink};
use std::path::Path;
use tracing::info;

const BROKEN: &str =
    "this PDF is broken, or has fonts that cannot be read: expected one with text; convert it to text first";
/// Most bytes that the streams of a PDF may unpack to, pictures left out, and those of one picture, which is not unpacked.
const MAX_UNPACKED: u64 = MAX_BOOK_BYTES as u64;
const MAX_PICTURE: u64 = 512 << 20;
/// Times that a stream may be packed.
const MAX_PACKED: usize = 4;
/// Bytes before a stream in which its dictionary is looked for.
const DICTIONARY: usize = 1024;

/// The text of the PDF in a file, read by a process of its own. Pages and characters without text are told: what they say is missing.
pub(crate) fn text(bytes: &[u8], file: &Path) -> Result<String> {
    let PdfText { text, n_pages, n_empty, n_characters, n_unknown, n_fields } = apart::read(bytes)?;
    if n_empty > 0 {
        info!(
            "{}: {n_empty} of {n_pages} pages hold no text, perhaps pictures of pages: convert the PDF to text first if they matter",
            file.display()
        );
    }
    if n_unknown > 0 {
        info!(
            "{}: fonts do not say which letters {n_unknown} of {n_characters} characters are, which are missing: convert the PDF to text first if they matter",
            file.display()
        );
    }
    if n_fields > 0 {
        info!(
            "{}: what {n_fields} fields of a form say is missing: convert the PDF to text first if it matters",
            file.display()
        );
    }
    if text.chars().any(|c| matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}')) {
        info!(
            "{}: text from right to left is read in the order in which the PDF draws it, which may be backwards: look at it, or convert the PDF to text first",
            file.display()
        );
    }
    Ok(text)
}

/// Reads a PDF, page after page. The library can panic on broken files: that is one file that cannot be read.
fn read_here(bytes: &[u8]) -> Result<PdfText> {
    // Disks and mails leave zeros and blanks behind a file, and the library looks for the table of contents at the very end.
    let n_bytes = bytes.iter().rposition(|byte| *byte != 0 && !byte.is_ascii_whitespace()).map_or(0, |last| last + 1);
    let bytes = &bytes[..n_bytes];
    refuse_bombs(bytes)?;
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| apart::end_where_nothing_unwinds(BROKEN)));
    let read = std::panic::catch_unwind(|| pages::read(bytes));
    std::panic::set_hook(hook);
    let read = match read {
        Ok(Ok(read)) => read,
        Ok(Err(error)) => {
            bail!("no PDF that can be read ({error}): expected a PDF with text; convert it to text first")
        }
        Err(_) => bail!(BROKEN),
    };
    if read.text.trim().is_empty() {
        bail!("this PDF holds no text, perhaps pictures of pages: convert it to text first");
    }
    Ok(read)
}

/// Refuses a PDF that unpacks to more than a book may have: the library that reads it knows no limit.
fn refuse_bombs(bytes: &[u8]) -> Result<()> {
    let mut left = MAX_UNPACKED;
    for at in memmem::find_iter(bytes, b"stream").filter(|at| !bytes[..*at].ends_with(b"end")) {
        let packed = &bytes[at + b"stream".len()..];
        let start = packed.iter().take(2).take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let before = &bytes[at.saturating_sub(DICTIONARY)..at];
        let dictionary = &before[memmem::rfind(before, b"obj").unwrap_or(0)..];
        let is_picture = memmem::find(dictionary, b"/Image").is_some();
        let most = if is_picture { MAX_PICTURE } else { left };
        let n_bytes = unpacked(&packed[start..], most);
        if n_bytes > most {
            let most = MAX_UNPACKED >> 20;
            bail!(
                "this PDF unpacks to more than {most} MiB: expected a text of a book's size; convert it to text first"
            );
        }
        left -= if is_picture { 0 } else { n_bytes };
    }
    Ok(())
}

/// Bytes that a stream unpacks to, packed once or several times, as far as `most` goes; none of one that is not packed.
fn unpacked(packed: &[u8], most: u64) -> u64 {
    let mut largest = 0;
    for times in 1..=MAX_PACKED {
        let mut stream: Box<dyn Read + '_> = Box::new(packed);
        for _ in 0..times {
            stream = Box::new(ZlibDecoder::new(stream));
        }
        let mut counted = Counted { stream: stream.take(most + 1), n_bytes: 0 };
        // It ends early where the stream is damaged, or is no packed one.
        let _ = copy(&mut counted, &mut sink());
        if counted.n_bytes == 0 {
            break;
        }
        largest = largest.max(counted.n_bytes);
    }
    largest
}

/// Counts what was read before an error, too.
struct Counted<R> {
    stream: R,
    n_bytes: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.stream.read(buffer)?;
        self.n_bytes += n as u64;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use std::io::Write;

    /// A PDF of one page with one stream, its offsets computed.
    fn pdf(filter: &str, stream: &[u8]) -> Vec<u8> {
        let page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>";
        let content = format!("<< /Length {}{filter} >>\nstream\n", stream.len());
        let objects = [
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_vec(),
            page.as_bytes().to_vec(),
            [content.as_bytes(), stream, b"\nendstream"].concat(),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec(),
        ];
        file_of(&objects)
    }

    /// A PDF with these objects, numbered from 1; the first is the catalogue.
    fn file_of(objects: &[Vec<u8>]) -> Vec<u8> {
        let mut file = b"%PDF-1.4\n".to_vec();
        let mut offsets = Vec::new();
        for (at, object) in objects.iter().enumerate() {
            offsets.push(file.len());
            file.extend([format!("{} 0 obj\n", at + 1).as_bytes(), object, b"\nendobj\n"].concat());
        }
        let (n, start) = (objects.len() + 1, file.len());
        file.extend(format!("xref\n0 {n}\n0000000000 65535 f \n").into_bytes());
        for offset in offsets {
            file.extend(format!("{offset:010} 00000 n \n").into_bytes());
        }
        file.extend(format!("trailer\n<< /Size {n} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").into_bytes());
        file
    }

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn the_text_of_a_pdf_is_read() {
        let line = b"BT /F1 12 Tf 72 720 Td (Net sales were 11.) Tj ET";
        assert_eq!(read_here(&pdf("", line)).unwrap().text.trim(), "Net sales were 11.");
        let once = packed(line);
        assert_eq!(read_here(&pdf(" /Filter /FlateDecode", &once)).unwrap().text.trim(), "Net sales were 11.");
    }

    #[test]
    fn a_font_whose_glyphs_are_numbered_one_by_one_is_read_and_letters_without_a_name_are_counted() {
        let page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>";
        let font =
            "<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding 6 0 R /ToUnicode 7 0 R /DescendantFonts [8 0 R] >>";
        let stream = |text: &str| format!("<< /Length {} >>\nstream\n{text}\nendstream", text.len());
        let codes = "begincmap\n1 begincodespacerange\n<0000> <ffff>\nendcodespacerange\n";
        let file = file_of(
            &[
                "<< /Type /Catalog /Pages 2 0 R >>",
                "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
                page,
                &stream("BT /F1 12 Tf 72 720 Td <0003000700070009> Tj ET"),
                font,
                &stream(&format!("{codes}2 begincidchar\n<0003> 40\n<0007> 41\nendcidchar\nendcmap")),
                &stream(&format!("{codes}2 beginbfchar\n<0003> <0069>\n<0007> <006c>\nendbfchar\nendcmap")),
                "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A /FontDescriptor << /Type /FontDescriptor >> >>",
            ]
            .map(|object| object.as_bytes().to_vec()),
        );
        let read = read_here(&file).unwrap();
        assert_eq!((read.text.trim(), read.n_characters, read.n_unknown), ("ill", 4, 1));
    }

    fn words(file: &[u8]) -> String {
        read_here(file).unwrap().text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn text_that_is_shown_on_a_new_line_is_read() {
        let lines = b"BT /F1 12 Tf 14 TL 72 720 Td (Net sales) Tj (were 11) ' 1 0 (million.) \" ET";
        assert_eq!(words(&pdf("", lines)), "Net sales were 11 million.");
    }

    #[test]
    fn lines_that_run_up_or_down_a_page_do_not_run_together() {
        let table = |turned: &str| {
            format!("q {turned} cm BT /F1 12 Tf 14 TL (1,234) Tj 72 0 Td (2001) Tj -72 -14 Td (2,468) Tj ET Q")
        };
        for turned in ["1 0 0 1 72 720", "0 1 -1 0 200 100", "0 -1 1 0 200 600", "-1 0 0 -1 400 300"] {
            assert_eq!(words(&pdf("", table(turned).as_bytes())), "1,234 2001 2,468", "{turned}");
        }
    }

    #[test]
    fn letters_of_a_size_below_zero_are_drawn_the_other_way_round() {
        let table = |turned: &str, size: i32| {
            let draw = |text: &str, x: u32, y: u32| format!("{turned} {x} {y} Tm ({text}) Tj ");
            let [name, year, sum] = [draw("1,234", 72, 720), draw("2001", 144, 720), draw("2,468", 72, 706)];
            words(&pdf("", format!("BT /F1 {size} Tf {name}{year}{sum}ET").as_bytes()))
        };
        assert_eq!(table("-1 0 0 -1", -12), "1,234 2001 2,468");
        assert_eq!(table("1 0 0 1", 12), "1,234 2001 2,468");
        assert_eq!(table("1 0 0 -1", 12), "1,234 2001 2,468", "in a mirror");
    }

    #[test]
    fn a_number_that_is_drawn_twice_to_be_bold_is_one() {
        let twice = |behind: &str| words(&pdf("", format!("BT /F1 12 Tf 72 720 Td (1,100) Tj {behind} ET").as_bytes()));
        assert_eq!(twice("0.4 0 Td (1,100) Tj 60 0 Td (sold) Tj"), "1,100 sold");
        assert_eq!(twice("60 0 Td (1,100) Tj"), "1,100 1,100", "one beside the other");
        assert_eq!(twice("0.1 0 Td (1,200) Tj"), "1,1001,200", "another text in its place is whole");
    }

    #[test]
    fn ligatures_are_read_letter_by_letter() {
        let own = "<< /BaseEncoding /WinAnsiEncoding /Differences [65 /fi /ffl] >>";
        let form = "/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /Font << /F1 5 0 R >> >>";
        let form = stream(form, "BT /F1 12 Tf 72 720 Td (waBe) Tj ET");
        let font = HELVETICA.replace("/WinAnsiEncoding", own);
        assert_eq!(words(&drawing("proAt", &font, &form, &[])), "waffle profit");
    }

    #[test]
    fn small_digits_that_stand_high_behind_a_number_are_raised() {
        let raised = |mark: &str, right: f64, up: f64, size: u32| {
            let behind = format!("/F1 {size} Tf {right} {up} Td ({mark}) Tj /F1 12 Tf 12 {} Td (crowns) Tj", -up);
            words(&pdf("", format!("BT /F1 12 Tf 72 720 Td (1234) Tj {behind} ET").as_bytes()))
        };
        // Four digits of Helvetica in 12 points are 26.69 points wide.
        assert_eq!(raised("5", 26.7, 5.0, 7), "1234⁵ crowns");
        assert_eq!(raised("-5", 27.2, 4.0, 8), "1234⁻⁵ crowns");
        assert_eq!(raised("5,6", 26.7, 4.0, 7), "1234⁵,⁶ crowns");
        assert_eq!(raised("5", 26.7, 0.0, 12), "12345 crowns");
        assert_eq!(raised("5", 26.7, -3.0, 7), "12345 crowns", "one that stands low");
        let before = b"BT /F1 7 Tf 72 725 Td (1) Tj /F1 12 Tf 3.95 -5 Td (2023 restated) Tj ET";
        assert_eq!(words(&pdf("", before)), "1 2023 restated");
    }

    #[test]
    fn fields_that_are_filled_in_are_counted() {
        let page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>";
        let shown = "BT /F1 12 Tf 72 720 Td (Name of the firm:) Tj ET";
        let file = file_of(
            &[
                "<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R 7 0 R 8 0 R] >> >>",
                "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
                page,
                &format!("<< /Length {} >>\nstream\n{shown}\nendstream", shown.len()),
                "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
                "<< /FT /Tx /T (firm) /V (Ana Homes) >>",
                "<< /FT /Btn /T (is old) /V /Off >>",
                "<< /FT /Sig /T (signed) /V << /Type /Sig /Name (Ana) >> >>",
            ]
            .map(|object| object.as_bytes().to_vec()),
        );
        let read = read_here(&file).unwrap();
        assert_eq!((read.text.trim(), read.n_fields), ("Name of the firm:", 1));
    }

    fn stream(more: &str, text: &str) -> String {
        format!("<< {more} /Length {} >>\nstream\n{text}\nendstream", text.len())
    }

    /// A PDF of one page that draws the object 6 as `/X1` and then shows a text in the font of object 5.
    fn drawing(text: &str, font: &str, drawn: &str, more: &[&str]) -> Vec<u8> {
        let page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
            /Resources << /Font << /F1 5 0 R >> /XObject << /X1 6 0 R >> >> >>";
        let content = stream("", &format!("/X1 Do BT /F1 12 Tf 72 700 Td ({text}) Tj ET"));
        let tree = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", page];
        let objects = [&tree[..], &[&content, font, drawn], more].concat();
        file_of(&objects.iter().map(|object| object.as_bytes().to_vec()).collect::<Vec<_>>())
    }

    const HELVETICA: &str = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";

    #[test]
    fn the_bytes_of_a_picture_are_no_text() {
        let picture = "/Type /XObject /Subtype /Image /Width 6 /Height 6 /ColorSpace /DeviceGray /BitsPerComponent 8";
        let picture = stream(picture, "BT /F1 9 Tf 9 9 Td (not) Tj ET     ");
        assert_eq!(words(&drawing("Seen", HELVETICA, &picture, &[])), "Seen");
    }

    #[test]
    fn a_form_and_its_page_may_call_different_fonts_the_same() {
        let form = "/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /Font << /F1 7 0 R >> >>";
        let form = stream(form, "BT /F1 12 Tf 72 720 Td (sold AB) Tj ET");
        let own =
            HELVETICA.replace("/WinAnsiEncoding", "<< /BaseEncoding /WinAnsiEncoding /Differences [65 /one /two] >>");
        assert_eq!(words(&drawing("Page AB", HELVETICA, &form, &[&own])), "sold 12 Page AB");
    }

    #[test]
    fn zeros_behind_the_end_of_a_pdf_are_nothing() {
        let line = b"BT /F1 12 Tf 72 720 Td (Net sales were 11.) Tj ET";
        let padded = [pdf("", line), vec![0; 3000], b"\r\n".repeat(2000)].concat();
        assert_eq!(read_here(&padded).unwrap().text.trim(), "Net sales were 11.");
    }

    #[test]
    fn finding_09_a_pdf_that_unpacks_to_more_than_a_book_is_refused() {
        let once = packed(&vec![0; 129 << 20]);
        let (twice, flate) = (packed(&once), " /Filter /FlateDecode");
        for file in [pdf(flate, &once), pdf(" /Filter [/FlateDecode /FlateDecode]", &twice)] {
            let refused = read_here(&file).unwrap_err().to_string();
            assert!(refused.contains("this PDF unpacks to more than 128 MiB"), "{refused}");
        }
        assert!(refuse_bombs(&pdf(" /Subtype /Image /Filter /FlateDecode", &once)).is_ok(), "a picture may be larger");
    }
}
