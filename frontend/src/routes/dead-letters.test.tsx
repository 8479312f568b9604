import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { aConsumerGroup } from '@/testing/consumer-group-builders';
import { graphqlError } from '@/testing/control-plane';
import { aDeadLetter, deadLetterPage } from '@/testing/message-builders';
import { anOperation, operationId } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';

const ids = ['7F00000100002A9F0000000000000001', '7F00000100002A9F0000000000000002'];
const answers = {
  ConsumerGroup: () => ({ consumerGroup: aConsumerGroup() }),
  DeadLetters: () =>
    deadLetterPage(
      ids.map((messageId) => aDeadLetter({ messageId })),
      true,
    ),
  PlanOperation: () => ({ operation: anOperation() }),
};
const defaults = {
  clusterName: 'regent',
  consumerGroupName: 'billing',
  destination: 'RETRY',
  countMax: 1000,
  messagesPerSecond: 100,
  includesResent: false,
};

test('dead letters that are chosen are resent by a plan', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole('/consumer-groups/billing', { answers });
  const table = await screen.findByRole('table', { name: 'Dead letters' });
  expect(within(table).getAllByText('orders')).toHaveLength(2);
  expect(screen.getByText(/^These are the oldest 100/)).toBeVisible();
  expect(await violations(document.body)).toEqual([]);

  await user.click(screen.getByRole('checkbox', { name: `Choose ${ids[1]}` }));
  await user.click(screen.getByRole('button', { name: 'Resend one…' }));
  const dialog = within(await screen.findByRole('dialog', { name: /^Resend dead letters of/ }));
  await user.click(dialog.getByRole('button', { name: 'Plan it' }));

  await waitFor(() => expect(address()).toBe(`/operations/${operationId}`));
  expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan).toEqual({
    resendDeadLetters: { ...defaults, messageIds: [ids[1]] },
  });
});

test('all are resent without naming one, and where there are none nothing is offered', async () => {
  const user = userEvent.setup();
  const { calls } = renderConsole('/consumer-groups/billing', { answers });
  await screen.findByRole('table', { name: 'Dead letters' });
  await user.click(screen.getByRole('button', { name: 'Resend all…' }));
  const dialog = within(await screen.findByRole('dialog'));
  await user.click(dialog.getByRole('button', { name: 'Plan it' }));

  await waitFor(() =>
    expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan).toEqual({
      resendDeadLetters: { ...defaults, messageIds: [] },
    }),
  );
});

test('a group that never had a dead letter shows that there are none', async () => {
  const facts = { reason: 'topic_not_found' };
  renderConsole('/consumer-groups/billing', {
    answers: {
      ...answers,
      DeadLetters: () => graphqlError('not_found', 'no topic', null, facts),
    },
  });

  expect(await screen.findByText('No dead letters')).toBeVisible();
  expect(screen.getByRole('button', { name: 'Resend all…' })).toBeDisabled();
  expect(screen.queryByRole('alert')).toBeNull();
});
