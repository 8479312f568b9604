import { expect, test } from 'vitest';
import { compareOffsets, messagesHeld, permissionWord, queueRows } from './topic-detail';

function queue(queueId: number, minOffset: string | null, maxOffset: string | null) {
  return { brokerGroupName: 'broker-a', queueId, minOffset, maxOffset, observedAt: null };
}

test('bars are shares of the longest queue', () => {
  const [short, long] = queueRows([queue(0, '0', '50'), queue(1, '50', '200')]);

  expect([short?.start, short?.end]).toEqual([0, 0.25]);
  expect([long?.start, long?.end]).toEqual([0.25, 1]);
});

test('a queue no sample has shown has no bar and no count', () => {
  const [row] = queueRows([queue(0, null, null)]);

  expect(row).toMatchObject({ messageCount: null, start: null, end: null });
});

test('messages beyond the precision of a float are counted exactly', () => {
  const rows = queueRows([queue(0, '1', '9223372036854775807'), queue(1, null, null)]);

  expect(messagesHeld(rows)).toEqual({ total: '9223372036854775806', counted: 1 });
});

test('offsets are compared as 64-bit integers', () => {
  expect(compareOffsets('9007199254740993', '9007199254740992')).toBe(1);
  expect(compareOffsets('1', '10')).toBe(-1);
});

test('a permission is read from its bits', () => {
  expect([6, 4, 2, 0].map(permissionWord)).toEqual(['readWrite', 'readOnly', 'writeOnly', 'none']);
});
