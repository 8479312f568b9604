import { act, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import type { Call } from '@/testing/control-plane';
import { FakeSocket } from '@/testing/fake-socket';
import {
  anOperation,
  aRunningOperation,
  operationId,
  operationPage,
} from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';

const path = `/operations/${operationId}`;

async function openStream(): Promise<FakeSocket> {
  await waitFor(() => expect(FakeSocket.last?.isSubscribedTo('Events')).toBe(true));
  return FakeSocket.last as FakeSocket;
}

function publish(socket: FakeSocket, number: number, change: object): void {
  const event = {
    number: String(number),
    kind: 'operation.running',
    clusterName: 'regent',
    subject: 'broker-a',
    brokerGroupName: 'broker-a',
    operationId,
    details: {},
    ...change,
  };
  socket.publish('Events', { events: event });
}

function countOf(calls: Call[], operation: string): number {
  return calls.filter((call) => call.operation === operation).length;
}

/** Waits until nothing is asked any more that the start of the page brought about. */
async function settled(calls: Call[]): Promise<void> {
  // `waitFor` looks at each change of the page as well, and two may come right after each other.
  for (let before = -1; before !== calls.length; ) {
    before = calls.length;
    await act(() => new Promise((resolve) => setTimeout(resolve, 600)));
  }
}

test('a list follows its events and asks for nothing between them', async () => {
  let operation = anOperation();
  const { calls } = renderConsole('/operations', {
    answers: { Operations: () => operationPage([operation]) },
  });
  const table = await screen.findByRole('table', { name: 'Operations' });
  const socket = await openStream();
  await settled(calls);
  const asked = countOf(calls, 'Operations');

  operation = aRunningOperation();
  publish(socket, 101, {});

  await waitFor(() => expect(within(table).getByText('running')).toBeVisible());
  expect(countOf(calls, 'Operations')).toBe(asked + 1);
});

test('a plan is compared again when an event touches what it names, and by no other', async () => {
  let movedFact: object | null = null;
  const { calls } = renderConsole(path, {
    answers: { OperationFacts: () => ({ operation: { id: operationId, movedFact } }) },
  });
  await screen.findByRole('button', { name: 'Carry it out' });
  const socket = await openStream();
  await settled(calls);
  const asked = countOf(calls, 'OperationFacts');

  movedFact = { name: 'master epoch', expected: '17', found: '18' };
  const elected = { kind: 'group.master_elected', operationId: null };
  publish(socket, 101, { ...elected, subject: 'broker-b', brokerGroupName: 'broker-b' });
  publish(socket, 102, { ...elected, clusterName: 'west' });
  await settled(calls);
  expect(countOf(calls, 'OperationFacts')).toBe(asked);
  publish(socket, 103, elected);

  expect(await screen.findByText('This plan has expired: master epoch changed')).toBeVisible();
  expect(countOf(calls, 'OperationFacts')).toBe(asked + 1);
});

test('a viewer may compare a plan again', async () => {
  const user = userEvent.setup();
  const { calls } = renderConsole(path);
  await screen.findByRole('button', { name: 'Carry it out' });
  await openStream();
  await settled(calls);
  const asked = countOf(calls, 'OperationFacts');

  await user.click(screen.getByRole('button', { name: 'Compare now' }));

  await waitFor(() => expect(countOf(calls, 'OperationFacts')).toBe(asked + 1));
});

test('a connection that was cut goes on behind the last event', async () => {
  renderConsole(path);
  const first = await openStream();
  expect(first.variablesOf('Events')).toEqual({ after: '100' });
  publish(first, 140, {});

  first.close();
  await waitFor(() => expect(FakeSocket.last).not.toBe(first));
  const second = await openStream();

  expect(second.variablesOf('Events')).toEqual({ after: '140' });
});

test('where events are no longer kept all is asked for again, and followed from now on', async () => {
  let newest = '100';
  const { calls } = renderConsole('/operations', {
    answers: { EventPosition: () => ({ events: { newestNumber: newest } }) },
  });
  await screen.findByRole('table', { name: 'Operations' });
  const socket = await openStream();
  await settled(calls);
  const asked = countOf(calls, 'Operations');

  newest = '900';
  socket.refuse('Events', 'events_expired');

  await waitFor(() => expect(countOf(calls, 'Operations')).toBe(asked + 1));
  await waitFor(() => expect(socket.variablesOf('Events')).toEqual({ after: '900' }));
});
