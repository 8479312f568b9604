import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { graphqlError } from '@/testing/control-plane';
import { anOperation, operationId } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';

const planned = () => ({ operation: anOperation() });

test('what is wrong stands beside its field, and nothing is asked for before it is right', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole('/topics?order=create', {
    answers: { PlanOperation: planned },
  });
  const dialog = within(await screen.findByRole('dialog', { name: 'Create a topic in regent' }));
  expect(await violations(screen.getByRole('dialog'))).toEqual([]);

  await user.type(dialog.getByLabelText('Name'), 'a b');
  await user.click(dialog.getByRole('button', { name: 'Plan it' }));
  expect(dialog.getByText(/^A name can't contain blanks/)).toBeVisible();
  expect(dialog.getByLabelText('Name')).toHaveFocus();
  expect(calls.some(({ operation }) => operation === 'PlanOperation')).toBe(false);

  await user.clear(dialog.getByLabelText('Name'));
  await user.type(dialog.getByLabelText('Name'), 'payments{Enter}');

  await waitFor(() => expect(address()).toBe(`/operations/${operationId}`));
  expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan).toEqual({
    createTopic: {
      clusterName: 'regent',
      topicName: 'payments',
      brokerGroups: [],
      readQueueCount: 8,
      writeQueueCount: 8,
      isReadable: true,
      isWritable: true,
      isOrdered: false,
      messageType: null,
      shareMode: null,
      isTimeShared: null,
      isReplicated: true,
    },
  });
});

test('a refusal of the control plane stands beside the field that it names', async () => {
  const user = userEvent.setup();
  const message = 'change_topic: Expected `int` <= 65535 - at `$.write_queue_count`';
  renderConsole('/topics/orders', {
    answers: { PlanOperation: () => graphqlError('invalid_input', message) },
  });
  await user.click(await screen.findByRole('button', { name: 'Change…' }));
  const dialog = within(await screen.findByRole('dialog', { name: 'Change orders' }));

  await user.click(dialog.getByRole('button', { name: 'Plan it' }));

  expect(await dialog.findByRole('alert')).toHaveTextContent(message);
  expect(dialog.getByLabelText('Write queues')).toHaveAccessibleDescription(
    expect.stringContaining(message),
  );
});

test('a refusal goes with the form whose order was refused', async () => {
  const user = userEvent.setup();
  renderConsole('/topics/orders', {
    answers: { PlanOperation: () => graphqlError('conflict', 'not now') },
  });
  await user.click(await screen.findByRole('button', { name: 'Change…' }));
  const change = await screen.findByRole('dialog', { name: 'Change orders' });
  await user.click(within(change).getByRole('button', { name: 'Plan it' }));
  await within(change).findByRole('alert');

  await user.keyboard('{Escape}');
  await waitFor(() => expect(change).not.toBeInTheDocument());
  await user.click(screen.getByRole('button', { name: 'Reset offsets…' }));

  const reset = await screen.findByRole('dialog', { name: 'Reset offsets in orders' });
  expect(within(reset).queryByRole('alert')).toBeNull();
});

test('a form that is closed leaves the page, and the focus where it was opened', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/topics/orders');
  const open = await screen.findByRole('button', { name: 'Reset offsets…' });
  await user.click(open);
  await screen.findByRole('dialog', { name: 'Reset offsets in orders' });
  expect(address()).toBe('/topics/orders?order=reset');

  await user.keyboard('{Escape}');

  await waitFor(() => expect(address()).toBe('/topics/orders'));
  await waitFor(() => expect(open).toHaveFocus());
});

test('settings of a broker are chosen, typed by their own description, and planned together', async () => {
  const user = userEvent.setup();
  const { calls } = renderConsole('/brokers/broker-a-0', { answers: { PlanOperation: planned } });
  const table = await screen.findByRole('table', { name: 'Settings' });
  expect(within(table).getByText('1 to 60,000')).toBeVisible();
  expect(screen.getByText('may write')).toBeVisible();

  const choice = screen.getByRole('checkbox', { name: 'Choose slaveTimeout to change it' });
  await user.click(choice);
  expect(choice).toBeChecked();
  expect(choice).toHaveFocus();
  await user.click(screen.getByRole('button', { name: 'Change one setting…' }));
  const dialog = within(await screen.findByRole('dialog'));
  const value = dialog.getByLabelText('slaveTimeout');
  await user.clear(value);
  await user.type(value, '90000');
  await user.click(dialog.getByRole('button', { name: 'Plan it' }));
  expect(dialog.getByText('From 1 to 60000')).toBeVisible();
  await user.clear(value);
  await user.type(value, '4000{Enter}');

  await waitFor(() =>
    expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan).toEqual({
      changeBrokerConfig: {
        clusterName: 'regent',
        brokerGroupName: 'broker-a',
        brokerId: '0',
        changes: [{ name: 'slaveTimeout', value: '4000' }],
      },
    }),
  );
});
