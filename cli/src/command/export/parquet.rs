//! The command `closeread export parquet`.

use super::{Folders, OneTable, OutFolder, exit_code, open};
use anyhow::{Context, Result};
use closeread_export::tables::{Field, Kind, Schema};
use closeread_results::tables;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::fs::File;
use std::process::ExitCode;
use std::sync::Arc;

/// Bytes that are held of each table before a group of rows is written.
const GROUP_BYTES: usize = 4 << 20;

pub(super) fn run(folders: &Folders) -> Result<ExitCode> {
    let mut opened = folders.runs.iter().map(open).collect::<Result<Vec<_>>>()?;
    let mut table = OneTable::default();
    opened.iter().try_for_each(|streamed| table.add(&streamed.run))?;
    let mut out = OutFolder::open(&folders.out)?;
    let columns = tables::columns(&mut opened)?;
    let sheet = |schema: Schema| Sheet::new(out.create(&file_name(schema.name))?, schema);
    let mut sheets = tables::schemas(&columns).into_iter().map(sheet).collect::<Result<Vec<_>>>()?;
    tables::rows(&mut opened, &columns, |table, row| sheets[table as usize].push(row))?;
    for sheet in sheets {
        let name = file_name(sheet.schema.name);
        sheet.close()?;
        out.finish(&name)?;
    }
    out.close("tables")?;
    Ok(exit_code(opened.iter().all(|streamed| streamed.lacks.is_empty())))
}

fn file_name(table: &str) -> String {
    format!("{table}.parquet")
}

/// A table in the making, written group by group.
struct Sheet {
    schema: Schema,
    writer: SerializedFileWriter<File>,
    rows: Vec<Vec<Field>>,
    bytes: usize,
}

impl Sheet {
    fn new(file: File, schema: Schema) -> Result<Self> {
        let field = |(name, kind): &(String, Kind)| {
            let (physical, logical) = match kind {
                Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
                Kind::Number => (Physical::DOUBLE, None),
                Kind::Integer => (Physical::INT64, None),
                Kind::Truth => (Physical::BOOLEAN, None),
            };
            let field = Type::primitive_type_builder(name, physical).with_logical_type(logical);
            Ok(Arc::new(field.with_repetition(Repetition::OPTIONAL).build()?))
        };
        let fields = schema.columns.iter().map(field).collect::<Result<Vec<_>>>()?;
        let message = Arc::new(Type::group_type_builder(schema.name).with_fields(fields).build()?);
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?)).build();
        let writer = SerializedFileWriter::new(file, message, Arc::new(properties))?;
        Ok(Self { schema, writer, rows: Vec::new(), bytes: 0 })
    }

    fn push(&mut self, row: Vec<Field>) -> Result<()> {
        let of_text = |field: &Field| if let Field::Text(text) = field { text.len() } else { 0 };
        self.bytes += row.iter().map(|field| size_of::<Field>() + of_text(field)).sum::<usize>();
        self.rows.push(row);
        if self.bytes >= GROUP_BYTES { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let mut group = self.writer.next_row_group()?;
        let mut at = 0;
        while let Some(mut column) = group.next_column()? {
            let fields: Vec<&Field> = rows.iter().map(|row| &row[at]).collect();
            let levels: Vec<i16> = fields.iter().map(|field| i16::from(**field != Field::Absent)).collect();
            match self.schema.columns[at].1 {
                Kind::Text => {
                    let text = |field: &&Field| match field {
                        Field::Text(text) => Some(ByteArray::from(text.as_bytes().to_vec())),
                        _ => None,
                    };
                    let values: Vec<ByteArray> = fields.iter().filter_map(text).collect();
                    column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
                }
                Kind::Number => {
                    let number = |field: &&Field| if let Field::Number(value) = field { Some(*value) } else { None };
                    let values: Vec<f64> = fields.iter().filter_map(number).collect();
                    column.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
                }
                Kind::Integer => {
                    let integer = |field: &&Field| if let Field::Integer(value) = field { Some(*value) } else { None };
                    let values: Vec<i64> = fields.iter().filter_map(integer).collect();
                    column.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
                }
                Kind::Truth => {
                    let truth = |field: &&Field| if let Field::Truth(value) = field { Some(*value) } else { None };
                    let values: Vec<bool> = fields.iter().filter_map(truth).collect();
                    column.typed::<BoolType>().write_batch(&values, Some(&levels), None)?;
                }
            }
            column.close()?;
            at += 1;
        }
        group.close()?;
        Ok(())
    }

    fn close(mut self) -> Result<()> {
        self.write()?;
        self.writer.close().with_context(|| format!("cannot end {}.parquet", self.schema.name))?;
        Ok(())
    }
}
