//! Writing the property string of a message: `name 1 value 2`, over and over (remoting.md 4.3).

/// Stands between a name and its value.
pub const NAME_VALUE_SEPARATOR: u8 = 1;
/// Stands after each pair.
pub const PROPERTY_SEPARATOR: u8 = 2;
/// The most bytes of an encoded property string.
pub const PROPERTIES_SIZE_MAX: usize = 32_767;

/// Append one pair with its separators.
pub fn append_property(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.extend_from_slice(name);
    out.push(NAME_VALUE_SEPARATOR);
    out.extend_from_slice(value);
    out.push(PROPERTY_SEPARATOR);
}
