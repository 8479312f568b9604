//! Writing records into the log, in an order that a kill cannot mislead (FORMAT.md 5).
//!
//! A body and properties are what their sender put in, and may look like a record. Recovery jumps over
//! them only if the header and the lengths are there, so these are written before the rest.

use std::net::SocketAddr;
use std::sync::atomic::{Ordering, compiler_fence};

use super::{
    BODY_AT, BODY_CRC_AT, BORN_HOST_IPV6, HEAD_SIZE_MAX, IPV6_EXTRA, MAGIC_BLANK, MAGIC_V1,
    MAGIC_V2, Placement, RECORD_SIZE_MIN, STORE_HOST_IPV6, Tail, Version, body_crc, crc_property,
};
use crate::cursor::{Writer, copy_few};
use crate::failpoint::between_record_parts;
use crate::message::NewMessage;
use crate::properties::PROPERTY_SEPARATOR;

/// Whether both hosts have IPv4 addresses.
#[inline]
pub(crate) fn has_short_hosts(message: &NewMessage<'_>) -> bool {
    message.born_host.is_ipv4() && message.store_host.is_ipv4()
}

/// How much longer the hosts are than two of IPv4.
#[inline]
fn hosts_extra(message: &NewMessage<'_>) -> usize {
    let extra = |host: &SocketAddr| if host.is_ipv4() { 0 } else { IPV6_EXTRA };
    extra(&message.born_host) + extra(&message.store_host)
}

/// Size of the record that [`encode`] writes.
#[inline]
pub(crate) fn encoded_size(message: &NewMessage<'_>, version: Version, tail: Tail) -> usize {
    let variable = message.body.len() + message.topic.len() + message.properties.len();
    let topic_length = usize::from(version == Version::V2);
    RECORD_SIZE_MIN + hosts_extra(message) + topic_length + variable + tail.size()
}

/// Writes a record; `record` has exactly the encoded size, and the limits were checked.
#[inline(always)]
pub(crate) fn encode(
    record: &mut [u8],
    message: &NewMessage<'_>,
    version: Version,
    placement: &Placement,
    tail: Tail,
) {
    let extra = hosts_extra(message);
    let size = narrow(record.len());
    let (fixed, variable) = record.split_at_mut(BODY_AT + extra);
    let (body, variable) = variable.split_at_mut(message.body.len());
    match fixed.first_chunk_mut() {
        Some(fixed) if extra == 0 => put_short(fixed, size, message, version, placement),
        _ => put_long(fixed, size, message, version, placement),
    }
    let mut out = Writer::new(variable);
    match version {
        Version::V1 => out.put(&narrow(message.topic.len()).to_be_bytes()[3..]),
        Version::V2 => out.put(&narrow(message.topic.len()).to_be_bytes()[2..]),
    }
    out.put_few(message.topic.as_bytes());
    out.put(&narrow(message.properties.len() + tail.size()).to_be_bytes()[2..]);
    keep_order();
    out.put_few(message.properties);
    keep_order();
    copy_few(body, message.body);
    // The checksum is computed from the source: to read back bytes that were just stored takes longer.
    Writer::new(&mut fixed[BODY_CRC_AT..]).put_u32(body_crc(message.body));
    let Tail::Crc { is_separated } = tail else {
        debug_assert!(out.is_full(), "encoded_size and encode disagree");
        return;
    };
    if is_separated {
        out.put(&[PROPERTY_SEPARATOR]);
    }
    crc_property::write(record);
}

/// Copies a whole record to a place of its size, in which its header and lengths come first.
pub(crate) fn copy_in_order(room: &mut [u8], record: &[u8], properties_size: usize) {
    let properties_at = record.len() - properties_size;
    let head_size = HEAD_SIZE_MAX.min(properties_at);
    let mut copy = |from: usize, to: usize| room[from..to].copy_from_slice(&record[from..to]);
    copy(0, head_size);
    keep_order();
    copy(head_size, properties_at);
    keep_order();
    copy(properties_at, record.len());
}

/// Keeps the compiler from moving stores from one side of this call to the other.
///
/// That is enough for a kill of this process: what the processor reorders, it still stores.
#[inline(always)]
fn keep_order() {
    compiler_fence(Ordering::SeqCst);
    between_record_parts();
}

/// Everything before the body but its checksum, with IPv4 hosts: their room is checked once, not for each field.
#[inline(always)]
fn put_short(
    fixed: &mut [u8; BODY_AT],
    size: u32,
    message: &NewMessage<'_>,
    version: Version,
    placement: &Placement,
) {
    let flag = message.sys_flag & !(BORN_HOST_IPV6 | STORE_HOST_IPV6);
    put_fixed(
        &mut Writer::new(fixed),
        size,
        message,
        (version, flag),
        placement,
    );
}

/// Everything before the body but its checksum.
#[cold]
#[inline(never)]
fn put_long(
    fixed: &mut [u8],
    size: u32,
    message: &NewMessage<'_>,
    version: Version,
    placement: &Placement,
) {
    let flag_for = |flag: i32, bit: i32, host: &SocketAddr| {
        if host.is_ipv4() {
            flag & !bit
        } else {
            flag | bit
        }
    };
    let flag = flag_for(message.sys_flag, BORN_HOST_IPV6, &message.born_host);
    let flag = flag_for(flag, STORE_HOST_IPV6, &message.store_host);
    put_fixed(
        &mut Writer::new(fixed),
        size,
        message,
        (version, flag),
        placement,
    );
}

#[inline(always)]
fn put_fixed(
    out: &mut Writer<'_>,
    size: u32,
    message: &NewMessage<'_>,
    (version, sys_flag): (Version, i32),
    placement: &Placement,
) {
    out.put_u32(size);
    out.put_u32(match version {
        Version::V1 => MAGIC_V1,
        Version::V2 => MAGIC_V2,
    });
    out.put_u32(0);
    out.put_i32(message.queue_id);
    out.put_i32(message.flag);
    out.put_u64(placement.queue_offset);
    out.put_u64(placement.log_position);
    out.put_i32(sys_flag);
    out.put_i64(message.born_timestamp_ms);
    put_host(out, &message.born_host);
    out.put_i64(placement.store_timestamp_ms);
    put_host(out, &message.store_host);
    out.put_i32(message.reconsume_times);
    out.put_i64(message.prepared_transaction_offset);
    out.put_u32(narrow(message.body.len()));
}

#[allow(clippy::cast_possible_truncation)] // every size was checked against limits below 2 GiB
fn narrow(size: usize) -> u32 {
    debug_assert!(i32::try_from(size).is_ok());
    size as u32
}

#[inline(always)]
fn put_host(out: &mut Writer<'_>, host: &SocketAddr) {
    match host {
        SocketAddr::V4(host) => {
            out.put(&host.ip().octets());
            out.put_u32(u32::from(host.port()));
        }
        SocketAddr::V6(host) => {
            out.put(&host.ip().octets());
            out.put_u32(u32::from(host.port()));
        }
    }
}

/// The header of the blank record that fills the rest of a segment.
pub(crate) fn encode_blank(header: &mut [u8], remaining: usize) {
    let mut out = Writer::new(header);
    out.put_u32(narrow(remaining));
    out.put_u32(MAGIC_BLANK);
}
