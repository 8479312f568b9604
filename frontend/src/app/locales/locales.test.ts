import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import en from './en.json';

const sourceRoot = join(dirname(import.meta.filename), '..', '..');

function flatten(node: object, prefix = ''): string[] {
  return Object.entries(node).flatMap(([key, inner]) =>
    typeof inner === 'string' ? [prefix + key] : flatten(inner as object, `${prefix}${key}.`),
  );
}

const keys = new Set(flatten(en).map((key) => key.replace(/_(one|other)$/, '')));
const text = readdirSync(sourceRoot, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path))
  .map((path) => readFileSync(join(sourceRoot, path), 'utf8'))
  .join('\n');

test('every word the console asks for is in the English file', () => {
  const asked = [...text.matchAll(/\bt\(\s*'([\w.]+)'/g)].map(([, key = '']) => key);

  expect(asked.length).toBeGreaterThan(50);
  expect(asked.filter((key) => !keys.has(key))).toEqual([]);
});

test('every family of words asked for by a computed name is in the English file', () => {
  const families = [...text.matchAll(/\bt\(`([\w.]+)\$\{/g)].map(([, prefix = '']) => prefix);

  const missing = families.filter((prefix) => ![...keys].some((key) => key.startsWith(prefix)));

  expect(missing).toEqual([]);
});

test('the English file holds no unused word', () => {
  const families = [...text.matchAll(/`([a-zA-Z]+\.)[\w.]*\$\{/g)].map(([, prefix = '']) => prefix);
  const quoted = new Set(
    [...text.matchAll(/(['"])([\w.]+)(?=\1)/g)].map(([, , word = '']) => word),
  );

  const unused = [...keys].filter(
    (key) => !quoted.has(key) && !families.some((prefix) => key.startsWith(prefix)),
  );

  expect(unused).toEqual([]);
});
