//! The global table of `build corpusqa` as Parquet.

use anyhow::Result;
use closeread_build::corpusqa::{CellValue, Column, Row, Schema};
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::sync::Arc;

/// Numbers as doubles, all else as UTF-8; what is missing is null.
pub(super) fn parquet(schema: &Schema, rows: &[Row]) -> Result<Vec<u8>> {
    let field = |column: &Column| {
        let physical = if column.is_number() { Physical::DOUBLE } else { Physical::BYTE_ARRAY };
        let logical = (!column.is_number()).then_some(LogicalType::String);
        let field = Type::primitive_type_builder(&column.key, physical).with_logical_type(logical);
        Ok(Arc::new(field.with_repetition(Repetition::OPTIONAL).build()?))
    };
    let fields = schema.columns.iter().map(field).collect::<Result<Vec<_>>>()?;
    let message = Arc::new(Type::group_type_builder("corpus").with_fields(fields).build()?);
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, message, Arc::new(WriterProperties::builder().build()))?;
    let mut group = writer.next_row_group()?;
    let mut at = 0;
    while let Some(mut column) = group.next_column()? {
        let cells: Vec<&CellValue> = rows.iter().map(|row| &row.cells[at]).collect();
        let levels: Vec<i16> = cells.iter().map(|cell| i16::from(**cell != CellValue::Missing)).collect();
        if schema.columns[at].is_number() {
            let values: Vec<f64> = cells.iter().filter_map(|cell| cell.number()).collect();
            column.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
        } else {
            let texts = cells.iter().filter(|cell| ***cell != CellValue::Missing);
            let values: Vec<ByteArray> = texts.map(|cell| ByteArray::from(cell.to_string().into_bytes())).collect();
            column.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
        }
        column.close()?;
        at += 1;
    }
    group.close()?;
    writer.close()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::global_table::tests::example;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use std::io::Write;

    #[test]
    fn parquet_holds_what_the_table_holds() {
        let (schema, rows) = example();
        let bytes = parquet(&schema, &rows).unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let read: Vec<String> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        assert_eq!(read, [r#"{name: "Å", beds: 2.5}"#, r#"{name: "B", beds: null}"#]);
    }
}
