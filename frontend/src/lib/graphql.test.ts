import { expect, test } from 'vitest';
import { findUnread, take } from './graphql';

const path = 'cluster.group';
type Data = { cluster: { group: { size: number } | null } | null };

function answered(data: Data, ...paths: string[]) {
  const problems = paths.map((at) => ({ code: 'internal', message: 'no', path: at }));
  return take({ data, problems }, 'group', path, ({ cluster }) => cluster?.group);
}

test('an absent value is distinguished from an unreadable one', () => {
  const absent = answered({ cluster: { group: null } });
  const unread = answered({ cluster: { group: null } }, 'cluster.group.size');
  const unreadAbove = answered({ cluster: null }, 'cluster');

  expect(findUnread(absent, 'group')).toBeUndefined();
  expect(findUnread(unread, 'group')?.code).toBe('internal');
  expect(findUnread(unreadAbove, 'group')?.code).toBe('internal');
});

test('a part that is missing keeps its place below, and others theirs', () => {
  const answer = answered({ cluster: { group: { size: 1 } } }, 'cluster.group.size', 'viewer');

  expect(answer.data.group).toEqual({ size: 1 });
  expect(answer.problems.map((problem) => problem.path)).toEqual(['group.size', 'viewer']);
  expect(findUnread(answer, 'group')).toBeUndefined();
});
