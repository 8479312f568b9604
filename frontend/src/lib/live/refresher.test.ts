import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, expect, test } from 'vitest';
import { heeding, routesChanged } from './heeds';
import { createRefresher } from './refresher';

const client = new QueryClient();

afterEach(() => client.clear());

/** Watches a query whose answers come when the test lets them. */
function watch(key: string, meta = heeding(['route'])) {
  const waiting: (() => void)[] = [];
  const observer = new QueryObserver(client, {
    queryKey: [key],
    queryFn: () => new Promise<number>((resolve) => waiting.push(() => resolve(waiting.length))),
    meta,
  });
  observer.subscribe(() => undefined);
  return {
    asked: () => waiting.length,
    answer: async () => {
      waiting.at(-1)?.();
      await new Promise((resolve) => setTimeout(resolve));
    },
  };
}

test('many events ask once, and only those that heed them', async () => {
  const [routes, groups] = [watch('routes'), watch('groups', heeding(['group']))];
  await Promise.all([routes.answer(), groups.answer()]);
  const refresher = createRefresher(client);

  for (let count = 0; count < 1_000; count += 1) refresher.hear(routesChanged('east'));
  refresher.flush();

  expect([routes.asked(), groups.asked()]).toEqual([2, 1]);
});

test('an answer under way is let come, and asked for once more after it', async () => {
  const routes = watch('routes');
  const refresher = createRefresher(client);

  refresher.hear(routesChanged('east'));
  refresher.flush();
  refresher.flush();
  expect(routes.asked()).toBe(1);
  await routes.answer();
  refresher.flush();

  expect(routes.asked()).toBe(2);
});

test('where anything may have been missed all is asked for again that heeds anything', async () => {
  const [routes, groups] = [watch('routes'), watch('groups', heeding(['group']))];
  await Promise.all([routes.answer(), groups.answer()]);
  const refresher = createRefresher(client);

  refresher.hearAll();
  refresher.flush();

  expect([routes.asked(), groups.asked()]).toEqual([2, 2]);
});
