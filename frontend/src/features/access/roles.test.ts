import { expect, test } from 'vitest';
import { isAdmin, patternsIn, roleOf, rolesUpTo } from './roles';

test('a token has its owner’s role at most', () => {
  expect(rolesUpTo('OPERATOR')).toEqual(['VIEWER', 'OPERATOR']);
});

test('a role of tomorrow may no more than look', () => {
  expect(roleOf('auditor')).toBe('VIEWER');
  expect([isAdmin('admin'), isAdmin('operator')]).toEqual([true, false]);
});

test('cluster patterns are apart by commas or blanks, and none means all', () => {
  expect(patternsIn('staging-*, east  west')).toEqual(['staging-*', 'east', 'west']);
  expect(patternsIn('  ')).toEqual(['*']);
});
