//! Just enough of the protobuf wire format to write an ONNX file.

use super::format::ConvertError;

/// Element types of ONNX tensors (`TensorProto.DataType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementType {
    F32 = 1,
    I8 = 3,
    I64 = 7,
    F16 = 10,
}

/// An attribute of a node.
pub(super) enum Attribute<'a> {
    Int(&'a str, i64),
    Float(&'a str, f32),
    Ints(&'a str, &'a [i64]),
}

/// An encoded protobuf message, or a part of one.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn int(&mut self, field: u32, value: i64) -> &mut Self {
        self.varint(u64::from(field << 3));
        self.varint(value.cast_unsigned());
        self
    }

    pub(super) fn float(&mut self, field: u32, value: f32) -> &mut Self {
        self.varint(u64::from(field << 3 | 5));
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn bytes(&mut self, field: u32, value: &[u8]) -> &mut Self {
        self.open(field, value.len());
        self.0.extend_from_slice(value);
        self
    }

    pub(super) fn text(&mut self, field: u32, value: &str) -> &mut Self {
        self.bytes(field, value.as_bytes())
    }

    pub(super) fn message(&mut self, field: u32, value: &Message) -> &mut Self {
        self.bytes(field, &value.0)
    }

    /// The graph's tensor `name` (`TensorProto`) as field 5 (`initializer`), its data copied once.
    pub(super) fn initializer(&mut self, name: &str, kind: ElementType, shape: &[usize], data: &[u8]) -> &mut Self {
        let mut head = Message::default();
        for &dim in shape {
            head.int(1, dim as i64);
        }
        head.int(2, kind as i64).text(8, name).open(9, data.len());
        self.open(5, head.0.len() + data.len());
        self.0.extend_from_slice(&head.0);
        self.0.extend_from_slice(data);
        self
    }

    /// A node (`NodeProto`) as field 1 of a graph, named like its first output.
    pub(super) fn node(&mut self, op: &str, inputs: &[&str], output: &str, attributes: &[Attribute<'_>]) -> &mut Self {
        let mut node = Message::default();
        for input in inputs {
            node.text(1, input);
        }
        node.text(2, output).text(3, output).text(4, op);
        for attribute in attributes {
            let mut proto = Message::default();
            match *attribute {
                Attribute::Float(name, value) => proto.text(1, name).float(2, value).int(20, 1),
                Attribute::Int(name, value) => proto.text(1, name).int(3, value).int(20, 2),
                Attribute::Ints(name, values) => {
                    proto.text(1, name);
                    for &value in values {
                        proto.int(8, value);
                    }
                    proto.int(20, 7)
                }
            };
            node.message(5, &proto);
        }
        self.message(1, &node)
    }

    /// A `ValueInfoProto`: the name, element type and named or fixed axes of an input or output.
    pub(super) fn value(name: &str, kind: ElementType, axes: &[Result<usize, &str>]) -> Self {
        let mut shape = Message::default();
        for axis in axes {
            let mut dim = Message::default();
            match axis {
                Ok(size) => dim.int(1, *size as i64),
                Err(name) => dim.text(2, name),
            };
            shape.message(1, &dim);
        }
        let mut tensor = Message::default();
        tensor.int(1, kind as i64).message(2, &shape);
        let mut type_proto = Message::default();
        type_proto.message(1, &tensor);
        let mut value = Message::default();
        value.text(1, name).message(2, &type_proto);
        value
    }

    /// The `ModelProto` around this graph.
    pub(super) fn into_model(self, ir_version: i64, opset: i64) -> Result<Vec<u8>, ConvertError> {
        let mut head = Message::default();
        head.int(1, ir_version).text(2, "closeread");
        let mut import = Message::default();
        import.text(1, "").int(2, opset);
        head.message(8, &import).open(7, self.0.len());
        let n_bytes = head.0.len() + self.0.len();
        // The limit of a protobuf message; readers refuse what is longer.
        if n_bytes > i32::MAX as usize {
            return Err(ConvertError::TooLarge { n_bytes });
        }
        let mut bytes = self.0;
        bytes.splice(0..0, head.0);
        Ok(bytes)
    }

    fn open(&mut self, field: u32, n_bytes: usize) {
        self.varint(u64::from(field << 3 | 2));
        self.varint(n_bytes as u64);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_the_wire_format() {
        let mut message = Message::default();
        message.int(1, 150).text(2, "testing").int(3, -1).float(4, 1.0);
        let expected = [
            &[0x08, 0x96, 0x01, 0x12, 0x07][..],
            b"testing",
            &[0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            &[0x25, 0, 0, 0x80, 0x3f],
        ];
        assert_eq!(message.0, expected.concat());
    }
}
