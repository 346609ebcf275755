//! `closeread build corpusqa` on what it cannot build from.

use crate::build_corpusqa::SAMPLE;
use crate::support::Sandbox;

#[test]
fn what_cannot_be_built_is_refused() {
    let sandbox = Sandbox::new();
    let table = format!("{SAMPLE}/table.csv");
    let run = |arguments: &[&str]| sandbox.run(&[&["build", "corpusqa", "--out", "c"][..], arguments].concat());
    run(&[]).refuses(&["--documents is missing"]);
    run(&["--documents", SAMPLE]).refuses(&["--model is missing"]);
    run(&["--documents", SAMPLE, "--model", "openai/x", "--queries", "1"])
        .refuses(&["agrees with nobody", "--extractor"]);
    run(&["--documents", SAMPLE, "--model", "openai/x", "--queries", "1", "--extractor", "openai/x,openai/x"])
        .refuses(&["agrees with nobody"]);
    run(&["--documents", SAMPLE, "--table", "gone.csv"]).refuses(&["cannot use --table gone.csv"]);
    run(&["--documents", SAMPLE, "--table", &table, "--lengths", "1G"]).refuses(&["128K, 1M"]);
    run(&["--documents", SAMPLE, "--table", &table, "--entity", "x"]).refuses(&["company,companies"]);
    sandbox.write("t.csv", "a,b\n1,2,3\n");
    run(&["--documents", SAMPLE, "--table", "t.csv"]).refuses(&["t.csv", "line 2: 3 cells: expected 2"]);
    run(&["--documents", SAMPLE, "--table", &table, "--templates", "t.csv"])
        .refuses(&["--templates t.csv", "[[template]]"]);
    run(&["--check-sql"]).refuses(&["expected the folder of a finished build corpusqa"]);
    let short = run(&["--documents", SAMPLE, "--table", &table]).exits(1);
    assert!(short.err().contains("nothing came out"), "{}", short.err());
}

/// A PDF of one page, which shows the content as often as `shown` names it (`4 0 R`), with these forms, `X0` and so on.
#[cfg(all(unix, feature = "pdf"))]
fn pdf(shown: &str, content: &str, forms: &[String]) -> Vec<u8> {
    let stream =
        |kind: &str, content: &str| format!("<< {kind} /Length {} >>\nstream\n{content}\nendstream", content.len());
    let names: String = (0..forms.len()).map(|n| format!("/X{n} {} 0 R ", n + 6)).collect();
    let page = format!(
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {shown} \
         /Resources << /Font << /F1 5 0 R >> /XObject << {names}>> >> >>"
    );
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        page,
        stream("", content),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    objects.extend(forms.iter().map(|form| stream("/Type /XObject /Subtype /Form", form)));
    file_of(&objects)
}

/// A PDF with these objects, numbered from 1; the first is the catalogue.
#[cfg(all(unix, feature = "pdf"))]
fn file_of(objects: &[String]) -> Vec<u8> {
    let (mut file, mut table) = ("%PDF-1.4\n".to_owned(), "0000000000 65535 f \n".to_owned());
    for (n, object) in objects.iter().enumerate() {
        table += &format!("{:010} 00000 n \n", file.len());
        file += &format!("{} 0 obj\n{object}\nendobj\n", n + 1);
    }
    let (n, start) = (objects.len() + 1, file.len());
    file += &format!("xref\n0 {n}\n{table}trailer\n<< /Size {n} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n");
    file.into_bytes()
}

#[cfg(all(unix, feature = "pdf"))]
#[test]
fn finding_05_pages_of_a_pdf_that_hold_no_text_are_told() {
    let sandbox = Sandbox::new();
    let text = "BT /F1 12 Tf 72 720 Td (Net sales \\001were 11.) Tj ET";
    let page = |contents: &str| {
        let font = "/Resources << /Font << /F1 5 0 R >> >>";
        format!("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] {contents} {font} >>")
    };
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R 6 0 R] /Count 2 >>".to_owned(),
        page("/Contents 4 0 R"),
        format!("<< /Length {} >>\nstream\n{text}\nendstream", text.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
        page(""),
    ];
    sandbox.write("x.pdf", file_of(&objects));
    sandbox.write("t.csv", "document,name,sales\nx,A,11\n");
    let build = ["build", "corpusqa", "--documents", "x.pdf", "--table", "t.csv", "--entity", "a,b", "--out", "b"];
    let told = sandbox.run(&build).exits(1).err();
    assert!(told.contains("x.pdf: 1 of 2 pages hold no text, perhaps pictures of pages"), "{told}");
    assert!(told.contains("x.pdf: fonts do not say which letters 1 of 19 characters are"), "{told}");
}

#[cfg(all(unix, feature = "pdf"))]
#[test]
fn finding_09_a_pdf_that_takes_all_time_memory_or_depth_is_refused_alone() {
    use crate::support::Ended;
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", "document,name,sales\nx,A,11\n");
    let built = |pdf: Vec<u8>, seconds: &str| {
        sandbox.write("x.pdf", pdf);
        let build = ["build", "corpusqa", "--documents", "x.pdf", "--table", "t.csv", "--entity", "a,b", "--out", "b"];
        let mut command = sandbox.command_after("ulimit -v 1500000", &build);
        Ended(command.env("CLOSEREAD_PDF_SECONDS", seconds).output().unwrap())
    };
    let text = "BT /F1 12 Tf 72 720 Td (Net sales were 11.) Tj ET\n";
    let read = built(pdf("4 0 R", text, &[]), "60").exits(1);
    assert!(read.err().contains("nothing came out"), "{}", read.err());
    let itself = pdf("4 0 R", "/X0 Do", &["/X0 Do".to_owned()]);
    built(itself, "60")
        .refuses(&["x.pdf: this PDF is broken, or takes more than 4096 MiB of memory (CLOSEREAD_PDF_MEMORY)"]);
    // Each of ten forms calls the next one ten times.
    let nested: Vec<String> =
        (1..=10).map(|n| if n < 10 { format!("/X{n} Do ").repeat(10) } else { text.to_owned() }).collect();
    built(pdf("4 0 R", "/X0 Do", &nested), "3")
        .refuses(&["x.pdf: this PDF was not read within 3 seconds (CLOSEREAD_PDF_SECONDS)"]);
    // A page that shows one content very often takes the memory of all.
    let often = format!("[{}]", "4 0 R ".repeat(2_000));
    built(pdf(&often, &text.repeat(20_000), &[]), "60")
        .refuses(&["x.pdf: this PDF is broken, or takes more than 4096 MiB of memory (CLOSEREAD_PDF_MEMORY)"]);
    // Nor does it where no shell limits its address space.
    let build = ["build", "corpusqa", "--documents", "x.pdf", "--table", "t.csv", "--entity", "a,b", "--out", "b"];
    let mut command = sandbox.command(&build);
    command.env("PATH", sandbox.path("nothing")).env("CLOSEREAD_PDF_MEMORY", "200");
    Ended(command.output().unwrap()).refuses(&["x.pdf: this PDF is broken, or takes more than 200 MiB of memory"]);
    Ended(command.env("CLOSEREAD_PDF_MEMORY", "1").output().unwrap())
        .refuses(&["CLOSEREAD_PDF_MEMORY=1: expected 64 to 1048576"]);
}
