import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = dirname(import.meta.filename);
const lineCountMax = 400;
/** What each layer may import besides itself. */
const layers: Record<string, string[]> = {
  gql: [],
  lib: ['gql'],
  components: ['lib', 'gql'],
  features: ['components', 'lib', 'gql'],
  routes: ['features', 'components', 'lib', 'gql'],
  app: ['routes', 'features', 'components', 'lib', 'gql'],
};

type Source = { path: string; text: string };

const sources: Source[] = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(ts|tsx|css|graphql)$/.test(path) && !path.startsWith('gql/'))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
const shipped = sources.filter(
  ({ path }) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path) && !path.startsWith('testing/'),
);

function importsOf({ path, text }: Source): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].flatMap(([, name = '']) => {
    if (name.startsWith('@/')) return [name.slice(2)];
    if (name.startsWith('.')) return [normalize(join(dirname(path), name))];
    return [];
  });
}

test('layers import downward only', () => {
  const offences = shipped.flatMap((source) => {
    const [layer = ''] = source.path.split('/');
    const allowed = layers[layer];
    if (!allowed) return [];
    return importsOf(source)
      .filter((name) => {
        const [target = ''] = name.split('/');
        return target !== layer && !allowed.includes(target);
      })
      .map((name) => `${source.path} imports ${name}`);
  });

  expect(offences).toEqual([]);
});

test('no feature imports another', () => {
  const offences = shipped
    .filter(({ path }) => path.startsWith('features/'))
    .flatMap((source) => {
      const own = source.path.split('/')[1];
      return importsOf(source)
        .filter((name) => name.startsWith('features/') && name.split('/')[1] !== own)
        .map((name) => `${source.path} imports ${name}`);
    });

  expect(offences).toEqual([]);
});

test('files are kebab-case and short', () => {
  const misnamed = sources.filter(({ path }) => !/^[a-z0-9/.-]+$/.test(relative('.', path)));
  const long = sources.filter(({ text }) => text.split('\n').length > lineCountMax);

  expect(misnamed.map(({ path }) => path)).toEqual([]);
  expect(long.map(({ path }) => path)).toEqual([]);
});

test('a file holds one component', () => {
  const crowded = shipped.filter(
    ({ path, text }) =>
      path.endsWith('.tsx') && [...text.matchAll(/^(?:export )?function [A-Z]/gm)].length > 1,
  );

  expect(crowded.map(({ path }) => path)).toEqual([]);
});
