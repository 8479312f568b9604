import { expect, test } from 'vitest';
import { columnNames, inOneOrder, isFlat, isList, journalRows, wordOfCode } from './values';

test('what a step changed stands before what it left as it was', () => {
  const rows = journalRows(
    { master_id: 1, replica_ids: [1, 2], master_epoch: 17 },
    { master_id: 2, replica_ids: [1, 2], master_epoch: 18 },
  );

  expect(rows.map(({ name, isChanged }) => [name, isChanged])).toEqual([
    ['master_id', true],
    ['master_epoch', true],
    ['replica_ids', false],
  ]);
});

test('a field that one side lacks is a change, and one that can not be compared is none', () => {
  expect(journalRows({ queues: 4 }, { queues: 4, order: true })).toEqual([
    { name: 'order', before: undefined, after: true, isChanged: true },
    { name: 'queues', before: 4, after: 4, isChanged: false },
  ]);
  expect(journalRows({ queues: 4 }, null)).toEqual([
    { name: 'queues', before: 4, after: undefined, isChanged: false },
  ]);
  expect(journalRows(null, null)).toEqual([]);
});

test('a list of things is a table with the fields of all of them, what names them first', () => {
  const rows = [
    { verdict: 'wins', broker_id: 1 },
    { broker_id: 2, why: 'late' },
  ];

  expect([isList(rows), isFlat(rows)]).toEqual([true, true]);
  expect(isFlat([{ id: 1, queues: [{ id: 0 }] }])).toBe(false);
  expect(isFlat([{ id: 1, after: { queues: 8 } }])).toBe(false);
  expect(columnNames(rows)).toEqual(['broker_id', 'verdict', 'why']);
  expect([isList([]), isList([1, 2]), isList({ id: 1 }), isList(null)]).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

test('the verdict on a candidate is shown in words, every other value unchanged', () => {
  expect(wordOfCode('verdict', 'not_designated')).toBe('electionVerdict.not_designated');
  expect(wordOfCode('verdict', 'a verdict of tomorrow')).toBeUndefined();
  expect(wordOfCode('state', 'wins')).toBeUndefined();
});

test('fields come in one order, whether they were just planned or kept by the database', () => {
  const planned = { topics: [{ queues: 4, name: 'orders' }], address: 'a:1' };
  const kept = { address: 'a:1', topics: [{ name: 'orders', queues: 4 }] };

  expect(JSON.stringify(inOneOrder(planned))).toBe(JSON.stringify(inOneOrder(kept)));
  expect(inOneOrder(planned)).toEqual(planned);
});
