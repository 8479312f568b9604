import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { anOperation, operationId } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';
import { aTransaction, transactionPage } from '@/testing/transaction-builders';

const planned = () => ({ operation: anOperation() });
const meant = {
  clusterName: 'regent',
  transactionId: '7F0001A1',
  brokerGroupName: 'broker-a',
};

test('a pending transaction shows its producers, its age and its checks', async () => {
  renderConsole('/transactions');

  const table = within(await screen.findByRole('table', { name: 'Pending transactions' }));

  for (const text of ['7F0001A1', 'payments', '3 on broker-a', '2 min', '4', '0']) {
    expect(table.getByText(text)).toBeVisible();
  }
  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test.each([
  ['Commit', { commitTransaction: meant }],
  ['Roll back', { rollBackTransaction: meant }],
])('%s goes by way of a plan', async (word, order) => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole('/transactions', {
    answers: { PlanOperation: planned },
  });

  await user.click(
    await screen.findByRole('button', { name: `${word} the transaction 7F0001A1…` }),
  );

  await waitFor(() => expect(address()).toBe(`/operations/${operationId}`));
  expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan).toEqual(
    order,
  );
});

test('transactions are narrowed by their producer group, and none may match', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/transactions', {
    answers: {
      Transactions: ({ chosen }) =>
        transactionPage(
          (chosen as { producerGroupName: string | null }).producerGroupName
            ? []
            : [aTransaction()],
        ),
    },
  });
  await screen.findByText('7F0001A1');

  await user.type(screen.getByRole('textbox', { name: 'Producer group' }), 'other');

  expect(await screen.findByText('No pending transaction matches')).toBeVisible();
  expect(address()).toContain('group=other');
});

test('a broker that does not list its transactions is named, with the reason', async () => {
  const silent = {
    name: 'broker-b-0',
    address: '127.0.0.1:10921',
    why: 'it does not answer',
  };
  renderConsole('/transactions', {
    answers: { Transactions: () => transactionPage([], [silent]) },
  });

  expect(await screen.findByText('No transaction is pending')).toBeVisible();
  expect(screen.getByText('broker-b-0 (127.0.0.1:10921): it does not answer')).toBeVisible();
});
