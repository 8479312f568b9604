import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { aClient, aConnection, clientPage } from '@/testing/client-builders';
import { graphqlError } from '@/testing/control-plane';
import { renderConsole } from '@/testing/render-console';

const silent = { name: 'broker-b-1', address: '10.0.0.2:10911', why: 'nobody listens' };

test('clients are listed with what they do, and silent brokers are named', async () => {
  const sender = aClient({
    clientId: 'sender',
    roles: ['PRODUCER'],
    consumerGroups: [],
    producerGroups: ['orders-out'],
    heardMs: null,
  });
  renderConsole('/clients', {
    answers: { Clients: () => clientPage([aClient(), sender], [silent]) },
  });

  const table = await screen.findByRole('table', { name: 'Clients' });
  const [, first, second] = within(table).getAllByRole('row');

  expect(within(first as HTMLElement).getByText('billing')).toBeVisible();
  expect(within(first as HTMLElement).getByText('JAVA 5.5.0')).toBeVisible();
  expect(within(second as HTMLElement).getByText('producer')).toBeVisible();
  expect(within(second as HTMLElement).getByText('unknown')).toBeVisible();
  expect(screen.getByText('broker-b-1 (10.0.0.2:10911): nobody listens')).toBeVisible();
  expect(await violations(document.body)).toEqual([]);
});

test('a filter is asked of the brokers and stands in the address', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole('/clients?group=billing', {
    answers: { Clients: () => clientPage([]) },
  });
  expect(await screen.findByText('No client matches')).toBeVisible();

  await user.click(screen.getByRole('radio', { name: 'consumer' }));

  await waitFor(() => expect(address()).toBe('/clients?group=billing&role=CONSUMER'));
  await waitFor(() =>
    expect(calls.findLast(({ operation }) => operation === 'Clients')?.variables).toMatchObject({
      clusterName: 'regent',
      group: 'billing',
      role: 'CONSUMER',
      search: null,
    }),
  );
});

test('who pauses while typing a filter types on where they were', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/clients?search=mine', {
    answers: { Clients: () => clientPage([]) },
  });
  const field = await screen.findByRole('textbox', { name: 'Consumer or producer group' });

  await user.type(field, 'bil');
  await waitFor(() => expect(address()).toBe('/clients?search=mine&group=bil'));
  await user.keyboard('ling');

  await waitFor(() => expect(address()).toBe('/clients?search=mine&group=billing'));
  expect(field).toHaveFocus();
});

test('without a client the page says when one appears', async () => {
  renderConsole('/clients', { answers: { Clients: () => clientPage([]) } });

  expect(await screen.findByText('No client is connected')).toBeVisible();
});

test('a list that could not be read says so', async () => {
  renderConsole('/clients', {
    answers: { Clients: () => graphqlError('unavailable', 'the database does not answer') },
  });

  expect(await screen.findByRole('alert')).toHaveTextContent('the database does not answer');
});

test('a client shows each connection, and leads to its group and its brokers', async () => {
  const connections = [aConnection(), aConnection({ brokerName: 'broker-c-1' })];
  renderConsole('/clients/10.0.0.7%40412', {
    answers: {
      Client: () => ({ client: { client: aClient({ connections }), unknown: [silent] } }),
    },
  });

  const table = await screen.findByRole('table', { name: 'Connections' });

  expect(screen.getByRole('heading', { name: '10.0.0.7@412' })).toBeVisible();
  expect(within(table).getByRole('link', { name: 'broker-c-1' })).toHaveAttribute(
    'href',
    expect.stringMatching(/^\/brokers\/broker-c-1(\?cluster=regent)?$/),
  );
  expect(screen.getByRole('link', { name: 'billing' })).toHaveAttribute(
    'href',
    expect.stringMatching(/^\/consumer-groups\/billing(\?cluster=regent)?$/),
  );
  expect(screen.getByText(/nobody listens/)).toBeVisible();
  expect(await violations(document.body)).toEqual([]);
});

test('a client that has left is said to be gone', async () => {
  renderConsole('/clients/nobody', { answers: { Client: () => ({ client: null }) } });

  expect(await screen.findByText('No client nobody is connected')).toBeVisible();
});
