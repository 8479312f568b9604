import { expect, test } from 'vitest';
import { routeTree } from './route-tree';
import {
  cursor,
  ignoredOf,
  innerPath,
  queue,
  searchOf,
  text,
  textOf,
  word,
  wordOf,
} from './search';

type AnyRoute = { options: { validateSearch?: unknown }; id: string; children?: unknown };

function routesUnder(route: AnyRoute): AnyRoute[] {
  return [route, ...((route.children ?? []) as AnyRoute[]).flatMap(routesUnder)];
}

type SearchOf = ReturnType<typeof searchOf<Record<string, string>>>;

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
  expect(textOf(true)).toBe('true');
  expect(wordOf('sideways', ['chart', 'table'])).toBeUndefined();
});

test('an ignored value is returned as undefined, so that the router drops it', () => {
  // Case B14.
  const read = searchOf<{ view?: 'chart'; search?: string }>({
    view: word(['chart']),
    search: text,
  });

  const view = read({ view: 'sideways', search: 'a', other: 'x' });

  expect(Object.entries(view)).toEqual([
    ['view', undefined],
    ['search', 'a'],
  ]);
});

test('what an address holds beside what its page reads is named, with its value', () => {
  // Case B14.
  const read = searchOf<{ state?: 'open' | 'all'; search?: string }>({
    state: word(['open', 'all'], 'open'),
    search: text,
  });
  const search = { state: 'shut', search: '', since: '7', toString: 'x', list: [1] };

  expect(ignoredOf(search, [read, undefined])).toEqual([
    { name: 'state', value: 'shut', reason: 'value' },
    { name: 'since', value: '7', reason: 'name' },
    { name: 'toString', value: 'x', reason: 'name' },
    { name: 'list', value: '[1]', reason: 'name' },
  ]);
  expect(ignoredOf({ state: 'open', search: 'a' }, [read])).toEqual([]);
});

test('every page reads its address by readers, and none lets a senseless value through', () => {
  // Case B14.
  const routes = routesUnder(routeTree as AnyRoute).filter(({ options }) => options.validateSearch);
  expect(routes.length).toBeGreaterThan(15);
  for (const { options, id } of routes) {
    const read = options.validateSearch as SearchOf;
    for (const [name, reader] of Object.entries(read.readers)) {
      const senseless = { [name]: { no: 'text' } };

      expect(Object.entries(read(senseless)), `${id} ${name}`).toEqual([[name, undefined]]);
      expect(reader.knows(senseless[name])).toBe(false);
    }
  }
});

test('a page that no list gave and a queue that Java has no number for are ignored', () => {
  // Case B14.
  expect(cursor.read('ImsxIg')).toBe('ImsxIg');
  expect(cursor.read(42)).toBeUndefined();
  expect(['7', 'page-2', '%'].map(cursor.knows)).toEqual([false, false, false]);
  expect(queue.read(2 ** 31 - 1)).toBe('2147483647');
  expect(queue.knows('2147483648')).toBe(false);
});
