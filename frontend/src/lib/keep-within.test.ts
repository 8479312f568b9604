import { expect, test } from 'vitest';
import { keepWithin } from './keep-within';

test('an answer stands in for the next page of the same list only', () => {
  const keep = keepWithin(['topics', 'east']);

  expect(keep('before', { queryKey: ['topics', 'east', { after: 'cursor' }] })).toBe('before');
  expect(keep('before', { queryKey: ['topics', 'west', { after: 'cursor' }] })).toBeUndefined();
  expect(keep('before', { queryKey: ['groups', 'east'] })).toBeUndefined();
  expect(keep(undefined, undefined)).toBeUndefined();
});

test('a scope that names nothing is another than one that does', () => {
  expect(keepWithin(['audit', undefined])('all', { queryKey: ['audit', 'east'] })).toBeUndefined();
  expect(keepWithin(['audit', 'east'])('all', { queryKey: ['audit', undefined] })).toBeUndefined();
});
