import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { anEntry, auditPage, operationId } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';

test('every entry says who did what, and leads to its operation', async () => {
  const direct = anEntry({ number: '6', operationId: null, details: { fence: 2 } });
  renderConsole('/audit', { answers: { AuditEntries: () => auditPage([anEntry(), direct]) } });

  const table = await screen.findByRole('table', { name: 'Audit' });
  const [, first, second] = within(table).getAllByRole('row') as HTMLElement[];

  expect(within(first as HTMLElement).getByText('anna')).toBeVisible();
  expect(within(first as HTMLElement).getByText('planned work')).toBeVisible();
  expect(within(first as HTMLElement).getByRole('link', { name: '7b0c7c1e' })).toHaveAttribute(
    'href',
    expect.stringContaining(`/operations/${operationId}`),
  );
  expect(within(second as HTMLElement).queryByRole('link')).not.toBeInTheDocument();
  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test('a search is asked of the server, and the export is of the same', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole(`/audit?operation=${operationId}`);
  await screen.findByRole('table', { name: 'Audit' });

  await user.type(screen.getByLabelText('Find by user'), 'anna');

  await waitFor(() => expect(address()).toContain('actor=anna'));
  await waitFor(() =>
    expect(calls.findLast(({ operation }) => operation === 'AuditEntries')?.variables).toEqual({
      first: 50,
      after: null,
      clusterName: null,
      actor: 'anna',
      operationId,
    }),
  );
  expect(screen.getByRole('link', { name: 'Export' })).toHaveAttribute(
    'href',
    `/api/v1/audit/export?actor=anna&operation_id=${operationId}`,
  );
});

test('half an id is not asked for', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/audit');
  await screen.findByRole('table', { name: 'Audit' });

  await user.type(screen.getByLabelText('Id of an operation'), operationId.slice(0, 20));
  await user.type(screen.getByLabelText('Find by user'), 'anna');

  await waitFor(() => expect(address()).toContain('actor=anna'));
  expect(address()).not.toContain('operation=');
});

test('the chain is followed to its end, and the verdict is in words', async () => {
  const user = userEvent.setup();
  const parts = [
    { checkedCount: 20_000, isComplete: false, endNumber: '20000', endHash: 'aa' },
    { checkedCount: 3, isComplete: true, endNumber: '20003', endHash: 'bb' },
  ];
  const { calls } = renderConsole('/audit', {
    answers: {
      AuditVerification: ({ afterNumber }) => ({
        auditVerification: {
          ...parts[afterNumber === null ? 0 : 1],
          brokenNumber: null,
          reason: null,
        },
      }),
    },
  });

  await user.click(await screen.findByRole('button', { name: 'Verify' }));

  expect(await screen.findByText('All 20,003 entries are as they were written.')).toBeVisible();
  expect(screen.getByText('bb')).toBeVisible();
  const asked = calls.filter(({ operation }) => operation === 'AuditVerification');
  expect(asked.map(({ variables }) => variables)).toEqual([
    { afterNumber: null, afterHash: null },
    { afterNumber: '20000', afterHash: 'aa' },
  ]);
});

test('a broken chain names the entry and what is wrong with it', async () => {
  const user = userEvent.setup();
  renderConsole('/audit', {
    answers: {
      AuditVerification: () => ({
        auditVerification: {
          checkedCount: 2,
          isComplete: true,
          endNumber: '2',
          endHash: 'aa',
          brokenNumber: '3',
          reason: 'its content does not match its hash',
        },
      }),
    },
  });

  await user.click(await screen.findByRole('button', { name: 'Verify' }));

  expect(
    await screen.findByText('Entry 3 breaks the chain: its content does not match its hash.'),
  ).toBeVisible();
});
