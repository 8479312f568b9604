import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { anOperation, operationId } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';
import { someTimers, timersPage } from '@/testing/timer-builders';

const list = { name: 'Broker groups with messages for a time' };

test('a broker group shows what waits, when it is due, and of which topics', async () => {
  renderConsole('/timers');

  const groups = within(await screen.findByRole('table', list));
  const hours = within(
    screen.getByRole('table', { name: 'Hours in which messages of broker-a are due' }),
  );
  const topics = within(
    screen.getByRole('table', { name: 'Topics of broker-a with waiting messages' }),
  );

  for (const text of ['broker-a', '1,203', 'in time']) expect(groups.getByText(text)).toBeVisible();
  expect(hours.getByText('1,200')).toBeVisible();
  expect(topics.getByText('1,199')).toBeVisible();
  expect(topics.getByRole('link', { name: 'orders' })).toBeVisible();
  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test('the next hour is shown by minute, and the address keeps that', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/timers');
  await screen.findByRole('table', list);

  await user.click(screen.getByRole('radio', { name: 'By minute' }));

  const name = 'Minutes of the next hour in which messages of broker-a are due';
  expect(await screen.findByRole('table', { name })).toBeVisible();
  expect(address()).toContain('by=minutes');
});

test.each([
  [{ hindrance: 'the disk is full', behindMs: '61000' }, 'stands still for 61 s: the disk is full'],
  [{ behindMs: '2500' }, '2.5 s late'],
])('a wheel that is late says so', async (change, text) => {
  renderConsole('/timers', { answers: { Timers: () => timersPage([someTimers(change)]) } });

  expect(await screen.findByText(text)).toBeVisible();
});

test('what the tables leave out is said beside them', async () => {
  const change = { rolledCount: '5', heldCount: '2', untakenCount: '1' };
  renderConsole('/timers', { answers: { Timers: () => timersPage([someTimers(change)]) } });

  expect(await screen.findByText(/^5 messages are due later than the wheel reaches/)).toBeVisible();
  expect(screen.getByText(/^2 overdue messages wait for their queues/)).toBeVisible();
  expect(screen.getByText(/^One message is not on the wheel yet/)).toBeVisible();
});

test('a RocketMQ broker reports no due times, which is not the same as none', async () => {
  const stock = someTimers({
    overdueCount: null,
    heldCount: null,
    rolledCount: null,
    firstDueAt: null,
    lastDueAt: null,
    minutes: null,
    hours: null,
  });
  renderConsole('/timers', { answers: { Timers: () => timersPage([stock]) } });

  expect(await screen.findByText('RocketMQ brokers report no due times.')).toBeVisible();
  expect(screen.getAllByText('not reported')).toHaveLength(3);
});

test('no broker group may have messages of a topic, and a silent broker is named', async () => {
  const silent = {
    name: 'broker-b-0',
    address: '127.0.0.1:10921',
    why: 'it does not answer',
  };
  renderConsole('/timers?topic=other', {
    answers: { Timers: () => timersPage([], [silent]) },
  });

  expect(await screen.findByText('No message of this topic waits for a time')).toBeVisible();
  expect(screen.getByText('broker-b-0 (127.0.0.1:10921): it does not answer')).toBeVisible();
});

test('a recall goes by way of a plan', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole('/timers', {
    answers: { PlanOperation: () => ({ operation: anOperation() }) },
  });
  await screen.findByRole('table', list);

  await user.click(screen.getByRole('button', { name: 'Recall a message…' }));
  const form = within(await screen.findByRole('dialog'));
  await user.type(form.getByRole('textbox', { name: /Recall handle/ }), 'djEgaA==');
  await user.click(form.getByRole('button', { name: 'Plan it' }));

  await waitFor(() => expect(address()).toBe(`/operations/${operationId}`));
  expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan).toEqual({
    recallMessage: { clusterName: 'regent', recallHandle: 'djEgaA==' },
  });
});
