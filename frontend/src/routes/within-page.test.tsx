import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test, vi } from 'vitest';
import { aTopic, topicPage } from '@/testing/builders';
import { aGroupRow, groupPage as consumerGroupPage } from '@/testing/consumer-group-builders';
import { aGroup, groupPage } from '@/testing/group-builders';
import { renderConsole } from '@/testing/render-console';

const next = { hasNextPage: true, endCursor: 'ImsxIg' };
const consumerGroups = consumerGroupPage([aGroupRow()]).consumerGroups;

const lists = [
  ['/topics', 'Topics', topicPage([aTopic()], 'ImsxIg', 120)],
  [
    '/consumer-groups',
    'ConsumerGroups',
    { consumerGroups: { ...consumerGroups, totalCount: 120, pageInfo: next } },
  ],
  ['/replica-groups', 'ReplicaGroups', groupPage([aGroup()], 'ImsxIg', 120)],
] as const;

test.each(lists)(
  'sorting a later page of %s leaves the way back',
  async (path, operation, page) => {
    const user = userEvent.setup();
    const { address } = renderConsole(path, { answers: { [operation]: () => page } });
    await user.click(await screen.findByRole('button', { name: 'Next' }));
    await waitFor(() => expect(address()).toContain('after=ImsxIg'));
    const table = within(screen.getByRole('table'));

    await user.click(table.getAllByRole('button')[0] as HTMLElement);

    await waitFor(() => expect(address()).toContain('sort='));
    expect(screen.getByRole('button', { name: 'Previous' })).toBeEnabled();
  },
);

test('a form opened over a later page leaves the way back', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/topics', {
    answers: { Topics: () => topicPage([aTopic()], 'ImsxIg', 120) },
  });
  await user.click(await screen.findByRole('button', { name: 'Next' }));
  await waitFor(() => expect(address()).toContain('after=ImsxIg'));

  await user.click(screen.getByRole('button', { name: /^Create a topic/ }));
  expect(await screen.findByRole('dialog')).toBeVisible();
  await user.keyboard('{Escape}');

  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(screen.getByRole('button', { name: 'Previous' })).toBeEnabled();
});

test('another view of a figure stays where it is looked at', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/?cluster=regent');
  const table = await screen.findByRole('radio', { name: 'Table' });
  const scroll = vi.fn();
  (document.querySelector('#main') as HTMLElement).scrollTo = scroll;

  await user.click(table);

  await waitFor(() => expect(address()).toBe('/?rates=table'));
  await screen.findByRole('table', { name: /Messages per second/ });
  expect(scroll).not.toHaveBeenCalled();
});
