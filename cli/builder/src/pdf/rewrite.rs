//! Content of a PDF, written so that the library reads all of its text.

use pdf_extract::content::{Content, Operation};
use pdf_extract::{Dictionary, Document, Object, ObjectId, Stream};

/// Writes out the operators `'` and `"`, which show a text on a new line and which the library skips. Fonts of a form get
/// names of their own: the library takes all fonts of one name on a page for the same.
pub(super) fn write_out(document: &mut Document) {
    let pages: Vec<ObjectId> = document.get_pages().into_values().collect();
    for page in pages {
        let content = document.get_page_content(page).ok().and_then(|content| written_out(&content, None));
        if let Some(content) = content {
            let content = document.add_object(Stream::new(Dictionary::new(), content));
            if let Ok(page) = document.get_dictionary_mut(page) {
                page.set("Contents", content);
            }
        }
    }
    // The library would read the bytes of a picture as content.
    for picture in document.objects.values_mut().filter(|object| is_of_subtype(object, b"Image")) {
        if let Ok(picture) = picture.as_stream_mut() {
            picture.set_plain_content(b"q Q".to_vec());
        }
    }
    let is_form = |object: &Object| is_of_subtype(object, b"Form");
    let forms: Vec<ObjectId> =
        document.objects.iter().filter(|(_, object)| is_form(object)).map(|(id, _)| *id).collect();
    for id in forms {
        let Some(form) = form_of_its_own(document, id) else { continue };
        document.objects.insert(id, Object::Stream(form));
    }
}

fn is_of_subtype(object: &Object, subtype: &[u8]) -> bool {
    let name =
        |stream: &Stream| stream.dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|name| name == subtype);
    object.as_stream().is_ok_and(name)
}

/// Gives the fonts of a form second names and has its content use them; `None` if there is nothing to change.
fn form_of_its_own(document: &Document, id: ObjectId) -> Option<Stream> {
    let form = document.objects.get(&id)?.as_stream().ok()?;
    let content = form.get_plain_content().ok()?;
    let dictionary = |of: &Dictionary, key: &[u8]| of.get_deref(key, document).and_then(Object::as_dict).ok().cloned();
    let mut form = form.clone();
    let resources = dictionary(&form.dict, b"Resources");
    let fonts = resources.as_ref().and_then(|resources| dictionary(resources, b"Font"));
    let content = written_out(&content, fonts.is_some().then_some(id))?;
    if let (Some(mut resources), Some(mut fonts)) = (resources, fonts) {
        // A form within this one may use these fonts by their first names.
        for (name, font) in &fonts.clone() {
            fonts.set(own_name(name, id), font.clone());
        }
        resources.set("Font", fonts);
        form.dict.set("Resources", resources);
    }
    form.set_plain_content(content);
    Some(form)
}

fn own_name(name: &[u8], form: ObjectId) -> Vec<u8> {
    [name, b"_of_", form.0.to_string().as_bytes()].concat()
}

/// Rewrites content into operators that the library knows, and drops inline pictures; `None` if there is nothing to change.
fn written_out(content: &[u8], form: Option<ObjectId>) -> Option<Vec<u8>> {
    let mut is_changed = false;
    let mut written = Vec::new();
    for mut operation in Content::decode(content).ok()?.operations {
        let operands = &mut operation.operands;
        match (operation.operator.as_str(), operands.len()) {
            ("BI", _) => {}
            ("'", 1) => {
                is_changed = true;
                written.extend(on_a_new_line(operands.remove(0)));
            }
            ("\"", 3) => {
                is_changed = true;
                let (text, between_letters) = (operands.remove(2), operands.remove(1));
                written.push(Operation::new("Tw", vec![operands.remove(0)]));
                written.push(Operation::new("Tc", vec![between_letters]));
                written.extend(on_a_new_line(text));
            }
            ("Tf", 2) => {
                let name = operands[0].as_name().map(<[u8]>::to_vec);
                if let (Some(form), Ok(name)) = (form, name) {
                    is_changed = true;
                    operands[0] = Object::Name(own_name(&name, form));
                }
                written.push(operation);
            }
            _ => written.push(operation),
        }
    }
    if is_changed { Content { operations: written }.encode().ok() } else { None }
}

fn on_a_new_line(text: Object) -> Vec<Operation> {
    let shown = matches!(text, Object::String(..)).then(|| Operation::new("Tj", vec![text]));
    std::iter::once(Operation::new("T*", Vec::new())).chain(shown).collect()
}
