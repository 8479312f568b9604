import { expect, test } from 'vitest';
import { awaitsRestart, chooseProperties, isCordoned, isDefault, type Property } from './broker';

function aProperty(change: Partial<Property> = {}): Property {
  return {
    name: 'flushDiskType',
    type: 'CHOICE',
    effect: 'RESTART',
    value: 'ASYNC_FLUSH',
    stored: null,
    default: 'ASYNC_FLUSH',
    low: null,
    high: null,
    choices: [],
    ...change,
  };
}

test('a broker is cordoned while its permission lacks the right to write', () => {
  const permission = (value: string) => [aProperty({ name: 'brokerPermission', value })];

  expect(isCordoned(permission('6'))).toBe(false);
  expect(isCordoned(permission('4'))).toBe(true);
  expect(isCordoned([])).toBeUndefined();
});

test('another value in the file than in force needs a restart', () => {
  expect(awaitsRestart(aProperty({ stored: 'SYNC_FLUSH' }))).toBe(true);
  expect(awaitsRestart(aProperty({ stored: 'ASYNC_FLUSH' }))).toBe(false);
  expect(awaitsRestart(aProperty())).toBe(false);
});

test('an unknown value is not called a default', () => {
  expect(isDefault(aProperty())).toBe(true);
  expect(isDefault(aProperty({ stored: 'SYNC_FLUSH' }))).toBe(false);
  expect(isDefault(aProperty({ default: null }))).toBe(false);
});

test('settings are found by a part of their name, and those off their default alone', () => {
  const set = aProperty({ name: 'slaveTimeout', value: '5000', default: '3000' });

  const found = (choice: Partial<Parameters<typeof chooseProperties>[1]>) =>
    chooseProperties([aProperty(), set], { search: undefined, only: undefined, ...choice });

  expect(found({ search: 'FLUSH' }).map(({ name }) => name)).toEqual(['flushDiskType']);
  expect(found({ only: 'changed' }).map(({ name }) => name)).toEqual(['slaveTimeout']);
});
