import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { renderConsole } from '@/testing/render-console';

const words = 'A part of the address has no effect';

test.each([
  ['/locks?holder=gone', 'holder "gone"', 'Locks', 'chosen.holder'],
  ['/clients?role=boss', 'role "boss"', 'Clients', 'role'],
  ['/topics?kind=weird', 'kind "weird"', 'Topics', 'kind'],
  ['/operations?state=lost', 'state "lost"', 'Operations', 'state'],
])('%s shows the whole list and says what is ignored', async (address, said, asked, variable) => {
  // Case B14.
  const { calls } = renderConsole(address);

  expect(await screen.findByText(`The address names an unknown ${said}; it is ignored.`));

  await waitFor(() => expect(calls.some(({ operation }) => operation === asked)).toBe(true));
  const values = calls
    .filter(({ operation }) => operation === asked)
    .map(({ variables }) => valueAt(variables, variable) ?? null);
  expect(new Set(values)).toEqual(new Set([null]));
  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test('a name that no page has is said as well, and a column that no table sorts by', async () => {
  // Case B14.
  renderConsole('/topics?colour=red&sort=weight');

  const main = within(await screen.findByRole('main'));

  expect(
    await main.findByText(
      'The address sets "colour", which this page does not have; it is ignored.',
    ),
  ).toBeVisible();
  expect(
    await main.findByText('The address names an unknown sort "weight"; it is ignored.'),
  ).toBeVisible();
});

test('the words go when they are closed, and when another page is opened', async () => {
  // Case B14.
  const user = userEvent.setup();
  const { router } = renderConsole('/locks?holder=gone');
  await user.click(
    within((await screen.findByText(words)).closest('[role="status"]') as HTMLElement).getByRole(
      'button',
      { name: 'Close' },
    ),
  );
  expect(screen.queryByText(words)).toBeNull();

  router.history.push('/clients?role=boss');
  expect(await screen.findByText(words)).toBeVisible();
  await user.click(screen.getByRole('link', { name: 'Topics' }));

  await waitFor(() => expect(screen.queryByText(words)).toBeNull());
});

test('an address without anything unknown is left as it is', async () => {
  // Case B14.
  const { address } = renderConsole('/findings?state=open');

  expect(await screen.findByRole('heading', { name: 'Findings' })).toBeVisible();
  expect(screen.queryByText(words)).toBeNull();
  expect(address()).toMatch(/^\/findings/);
});

function valueAt(variables: Record<string, unknown>, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((held, name) => (held as Record<string, unknown>)?.[name], variables);
}
