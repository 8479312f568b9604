import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { graphqlError } from '@/testing/control-plane';
import { anOperation, operationId } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';

const path = `/operations/${operationId}`;
const awaiting = anOperation({
  state: 'AWAITING_APPROVAL',
  confirmedBy: 'anna',
  confirmedAt: new Date().toISOString(),
  actions: ['APPROVE', 'DECLINE', 'CANCEL'],
});
const Operation = () => ({ operation: awaiting });

test('what awaits an approval says whose it is not, and is approved from the keyboard', async () => {
  const user = userEvent.setup();
  const queued = anOperation({
    state: 'QUEUED',
    confirmedBy: 'anna',
    reviewedBy: 'bela',
    reviewReason: 'seen',
    actions: ['CANCEL'],
  });
  const { calls } = renderConsole(path, {
    answers: { Operation, ApproveOperation: () => ({ operation: queued }) },
  });
  expect(await screen.findByText('Awaits the approval of another user than anna')).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Carry it out' })).toBeNull();
  expect(await violations(screen.getByRole('main'))).toEqual([]);

  await user.click(screen.getByRole('button', { name: 'Approve or decline…' }));
  await user.keyboard('seen');
  await user.tab();
  await user.keyboard('{Enter}');

  await waitFor(() =>
    expect(calls.find(({ operation }) => operation === 'ApproveOperation')?.variables).toEqual({
      id: operationId,
      reason: 'seen',
      key: expect.any(String),
    }),
  );
  expect(await screen.findByText('bela')).toBeVisible();
});

test('it is declined with a reason only, and a refusal stands beside the form', async () => {
  const user = userEvent.setup();
  const message = 'another user must review the operation; a token of the same user is refused too';
  const { calls } = renderConsole(path, {
    answers: { Operation, DeclineOperation: () => graphqlError('forbidden', message) },
  });
  await user.click(await screen.findByRole('button', { name: 'Decline' }));
  expect(await screen.findByText('Give a reason')).toBeVisible();
  expect(calls.some(({ operation }) => operation === 'DeclineOperation')).toBe(false);

  await user.type(screen.getByLabelText(/^Reason, for the audit/), 'not today');
  await user.click(screen.getByRole('button', { name: 'Decline' }));

  expect(await screen.findByRole('alert')).toHaveTextContent(message);
});

test('Enter in the reason alone gives no word, for it may be the reason to decline', async () => {
  const user = userEvent.setup();
  const { calls } = renderConsole(path, {
    answers: { Operation, DeclineOperation: Operation, ApproveOperation: Operation },
  });

  await user.type(await screen.findByLabelText(/^Reason, for the audit/), 'not today{Enter}');
  await user.click(screen.getByRole('button', { name: 'Decline' }));

  const given = () => calls.map(({ operation }) => operation);
  await waitFor(() => expect(given()).toContain('DeclineOperation'));
  expect(given()).not.toContain('ApproveOperation');
});
