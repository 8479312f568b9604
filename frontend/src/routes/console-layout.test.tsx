import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { Raw } from '@/testing/control-plane';
import { renderConsole } from '@/testing/render-console';

test('two keys lead from page to page', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/');
  await screen.findByRole('heading', { name: 'Overview' });

  await user.keyboard('gp');

  await waitFor(() => expect(address()).toBe('/topics'));
  expect(await screen.findByRole('heading', { name: 'Topics', level: 1 })).toBeVisible();
});

test('a slash goes to the filter and types no slash', async () => {
  const user = userEvent.setup();
  renderConsole('/topics');
  const filter = await screen.findByLabelText('Find by name');

  await user.keyboard('/');

  expect(filter).toHaveFocus();
  expect(filter).toHaveValue('');
});

test('a question mark lists the keys', async () => {
  const user = userEvent.setup();
  renderConsole('/');
  await screen.findByRole('heading', { name: 'Overview' });

  await user.keyboard('?');

  expect(await screen.findByRole('dialog', { name: 'Keys' })).toBeVisible();
});

test('keys lead nowhere while a dialog is open', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/');
  await screen.findByRole('heading', { name: 'Overview' });
  await user.keyboard('?');
  const keys = await screen.findByRole('dialog', { name: 'Keys' });

  await user.keyboard('gp');
  expect(address()).toBe('/');
  await user.keyboard('{Escape}');
  await waitFor(() => expect(keys).not.toBeInTheDocument());
  await user.keyboard('gp');

  await waitFor(() => expect(address()).toBe('/topics'));
});

test('the chosen cluster follows from page to page', async () => {
  const user = userEvent.setup();
  const nodes = [
    { id: '1', name: 'east' },
    { id: '2', name: 'west' },
  ];
  const { address } = renderConsole('/?cluster=west', {
    answers: { Clusters: () => ({ clusters: { totalCount: 2, nodes } }) },
  });

  await user.click(await screen.findByRole('link', { name: 'Capacity' }));

  await waitFor(() => expect(address()).toBe('/capacity?cluster=west'));
});

test('each of many clusters can be chosen', async () => {
  const user = userEvent.setup();
  const all = Array.from({ length: 120 }, (_, index) => ({ id: `${index}`, name: `c${index}` }));
  const { address } = renderConsole('/findings', {
    answers: {
      Clusters: ({ first }) => ({
        clusters: { totalCount: all.length, nodes: all.slice(0, Number(first)) },
      }),
    },
  });

  const picker = await screen.findByRole('combobox', { name: 'Cluster' });
  await user.clear(picker);
  await user.type(picker, 'c119');
  await user.click(await screen.findByRole('option', { name: 'c119' }));

  await waitFor(() => expect(address()).toContain('cluster=c119'));
});

test('a cluster that is first later does not take the place of the one shown', async () => {
  const east = { id: '1', name: 'east' };
  let nodes = [east];
  const { address, queryClient } = renderConsole('/topics', {
    answers: { Clusters: () => ({ clusters: { totalCount: nodes.length, nodes } }) },
  });
  await waitFor(() => expect(address()).toBe('/topics?cluster=east'));

  nodes = [{ id: '2', name: 'autumn' }, east];
  await act(() => queryClient.refetchQueries({ type: 'active' }));

  expect(await screen.findByRole('combobox', { name: 'Cluster' })).toHaveValue('east');
  expect(address()).toBe('/topics?cluster=east');
});

test('a session that ends meanwhile leads to the sign-in page', async () => {
  const { address } = renderConsole('/topics', {
    answers: { Topics: () => new Raw({ error: { code: 'unauthenticated', message: '' } }, 401) },
  });

  await waitFor(() => expect(address()).toBe('/sign-in?next=%2Ftopics'));
});

test('an address that names nothing says so', async () => {
  renderConsole('/nowhere');

  expect(await screen.findByText('No such page')).toBeVisible();
});
