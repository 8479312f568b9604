import { expect, test } from 'vitest';
import { innerPath, textOf, wordOf } from './search';

test('the way back after signing in never leads to another site', () => {
  expect(innerPath('/topics?search=a')).toBe('/topics?search=a');
  expect(innerPath('//evil.example')).toBeUndefined();
  expect(innerPath('/\\evil.example')).toBeUndefined();
  expect(innerPath('https://evil.example')).toBeUndefined();
});

test('whatever makes no sense in an address counts as not given', () => {
  expect(textOf('')).toBeUndefined();
  expect(textOf({})).toBeUndefined();
  expect(textOf(7)).toBe('7');
  expect(wordOf('sideways', ['chart', 'table'])).toBeUndefined();
});
