import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { anOperation, aRunningOperation, operationPage } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';

test('every operation says what it is, how far it has come and how it stands', async () => {
  renderConsole('/operations', {
    answers: { Operations: () => operationPage([aRunningOperation({ wish: 'PAUSE' })]) },
  });

  const table = await screen.findByRole('table', { name: 'Operations' });
  const row = within(table).getAllByRole('row')[1] as HTMLElement;
  const link = within(row).getByRole('link', { name: 'Broker 2 becomes master of broker-a' });

  expect(link).toHaveAttribute('href', expect.stringContaining('/operations/7b0c7c1e'));
  expect(within(row).getByText('running, to be paused after this step')).toBeVisible();
  expect(within(row).getByText('0 of 2')).toBeVisible();
  expect(within(row).getByText('Elect master')).toBeVisible();
  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test('filters are asked of the server and stand in the address', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole('/operations?after=Im9sZCI');
  await screen.findByRole('table', { name: 'Operations' });

  await user.click(screen.getByRole('combobox', { name: 'Kind' }));
  await user.click(await screen.findByRole('option', { name: 'Forget replicas' }));
  await user.click(screen.getByRole('combobox', { name: 'State' }));
  await user.click(await screen.findByRole('option', { name: 'Outcome unknown' }));
  await user.type(screen.getByLabelText('Find by target'), 'broker-a');

  await waitFor(() =>
    expect(address()).toBe('/operations?kind=forget_replicas&state=UNKNOWN&search=broker-a'),
  );
  await waitFor(() =>
    expect(calls.findLast(({ operation }) => operation === 'Operations')?.variables).toEqual({
      first: 50,
      after: null,
      clusterName: 'regent',
      state: 'UNKNOWN',
      kind: 'forget_replicas',
      search: 'broker-a',
    }),
  );
});

test('pages go on where the one before ended', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/operations', {
    answers: {
      Operations: ({ after }) =>
        operationPage(
          [anOperation({ target: after ? 'older' : 'newer' })],
          after ? null : 'ImsxIg',
          2,
        ),
    },
  });
  expect(await screen.findByText('newer')).toBeVisible();

  await user.click(screen.getByRole('button', { name: 'Next' }));

  expect(await screen.findByText('older')).toBeVisible();
  expect(address()).toBe('/operations?after=ImsxIg');
});

test('an empty list says how the first operation comes about', async () => {
  renderConsole('/operations', { answers: { Operations: () => operationPage([]) } });

  expect(await screen.findByText('No change was ordered yet')).toBeVisible();
});
