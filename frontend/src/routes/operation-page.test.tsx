import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { graphqlError, Raw } from '@/testing/control-plane';
import {
  anOperation,
  aPlan,
  aRunningOperation,
  aStep,
  operationId,
} from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';

const path = `/operations/${operationId}`;

function answering(operation: ReturnType<typeof anOperation>) {
  return { answers: { Operation: () => ({ operation }) } };
}

function standing(): HTMLElement {
  const head = screen.getByRole('heading', { level: 1 }).parentElement as HTMLElement;
  return within(head).getByRole('status');
}

test('a plan of any kind is shown in the same six blocks', async () => {
  const plan = aPlan({
    summary: 'Topic orders gets 16 queues',
    changes: [
      { what: 'write queues', before: '8', after: '16' },
      { what: 'order', before: 'yes', after: null },
    ],
    checks: [
      { name: 'room on disk', verdict: 'WARN', why: 'two brokers did not tell', stockCode: 17 },
    ],
    facts: {
      brokers: [{ name: 'broker-a', queues: 8 }],
      places: [{ address: '10.0.0.1:10911', after: { write_queues: 16 } }],
      is_ordered: true,
      note: null,
    },
  });
  renderConsole(path, answering(anOperation({ kind: 'change_topic', target: 'orders', plan })));

  expect(await screen.findByRole('heading', { name: 'Topic orders gets 16 queues' })).toBeVisible();
  const block = (name: string) => within(screen.getByRole('region', { name }));
  expect(block('What will happen').getByText('Elect broker 2')).toBeVisible();
  expect(block('What changes').getByRole('row', { name: 'write queues 8 16' })).toBeVisible();
  expect(block('What changes').getByRole('row', { name: 'order yes gone' })).toBeVisible();
  expect(block('Impact').getByText('Sends wait until broker 2 serves')).toBeVisible();
  expect(block('What could go wrong').getByText('mind this')).toBeVisible();
  expect(block('What could go wrong').getByText(/RocketMQ brokers answer 17/)).toBeVisible();
  expect(block('How to undo it').getByText('Elect the current master again')).toBeVisible();
  const facts = block('Facts of the plan');
  expect(facts.getByText('master epoch')).toBeVisible();
  expect(facts.getByText('is ordered').nextSibling).toHaveTextContent('yes');
  expect(facts.getByText('note').nextSibling).toHaveTextContent('none');
  expect(facts.getByRole('row', { name: 'broker-a 8' })).toBeVisible();
  expect(facts.getByText('write queues').nextSibling).toHaveTextContent('16');
  expect(screen.getByText('Change topic')).toBeVisible();
});

test('what a plan was made of is never drawn as it travels, however deep or empty it is', async () => {
  const facts = {
    members: {},
    topics: [],
    lags: { billing: 2, audit: {} },
    places: [{ group: 'broker-a', offsets: {} }],
    others: [{ id: 1 }, 'two', null, [3, { id: 4, notes: [] }]],
  };
  renderConsole(path, answering(anOperation({ plan: aPlan({ facts }) })));

  const drawn = within(await screen.findByRole('region', { name: 'Facts of the plan' }));
  const beside = (name: string) => drawn.getByText(name).nextSibling;
  expect(beside('members')).toHaveTextContent(/^none$/);
  expect(beside('topics')).toHaveTextContent(/^none$/);
  expect(beside('audit')).toHaveTextContent(/^none$/);
  expect(drawn.getByRole('row', { name: 'broker-a none' })).toBeVisible();
  expect(beside('others')).toHaveTextContent('two');
  expect(beside('others')).toHaveTextContent('none');
  expect(screen.getByRole('region', { name: 'Facts of the plan' })).not.toHaveTextContent(
    /[{}[\]"]/,
  );
});

test('what a plan was made of is copied as a command and as an API call', async () => {
  const user = userEvent.setup();
  renderConsole(path, answering(anOperation()));
  const copied = () => navigator.clipboard.readText();

  await user.click(await screen.findByRole('button', { name: 'Copy as command' }));
  expect(await copied()).toBe(
    `regent operation plan elect_master '{"cluster_name":"regent","broker_group_name":"broker-a"}'`,
  );
  expect(await screen.findByRole('button', { name: 'Copied' })).toBeVisible();
  await user.click(screen.getByRole('button', { name: 'Copy as API call' }));
  expect(await copied()).toContain('/api/v1/operations');
});

test('the page of a plan and of a running operation are accessible', async () => {
  renderConsole(path);
  await screen.findByRole('button', { name: 'Carry it out' });
  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test('the page of an operation at work is accessible', async () => {
  renderConsole(path, answering(aRunningOperation()));
  await screen.findByText('at work');
  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test('a confirmation brings what the gate asks for, under a separate key', async () => {
  const user = userEvent.setup();
  const { calls } = renderConsole(path, {
    answers: { ConfirmOperation: () => ({ operation: aRunningOperation() }) },
  });
  await user.click(await screen.findByRole('button', { name: 'Carry it out' }));

  expect(screen.getByText('This is not broker-a')).toBeVisible();
  expect(screen.getByText('Give a reason')).toBeVisible();
  expect(calls.filter(({ operation }) => operation === 'ConfirmOperation')).toEqual([]);

  await user.type(screen.getByLabelText('Type the name broker-a'), 'broker-a');
  await user.type(screen.getByLabelText('Reason, for the audit'), 'planned work{Enter}');

  await waitFor(() => expect(standing()).toHaveTextContent('running'));
  // The form that had the focus is gone; Tab goes on at the top of the page.
  expect(screen.getByRole('main')).toHaveFocus();
  const asked = calls.find(({ operation }) => operation === 'ConfirmOperation');
  expect(asked?.variables).toEqual({
    id: operationId,
    given: { typedName: 'broker-a', reason: 'planned work', acceptsLoss: false },
    key: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
});

test('a small change asks for nothing but the button', async () => {
  const user = userEvent.setup();
  const gate = { needsName: false, needsLossAccepted: false, holdMs: 0 };
  const { calls } = renderConsole(path, {
    answers: {
      Operation: () => ({ operation: anOperation({ plan: aPlan({ risk: 'SMALL', gate }) }) }),
      ConfirmOperation: () => ({ operation: aRunningOperation() }),
    },
  });

  await user.click(await screen.findByRole('button', { name: 'Carry it out' }));

  await waitFor(() => expect(standing()).toHaveTextContent('running'));
  expect(calls.some(({ operation }) => operation === 'ConfirmOperation')).toBe(true);
});

test('a loss has to be accepted, and what waits for it can be cancelled', async () => {
  const user = userEvent.setup();
  const gate = { needsName: true, needsLossAccepted: true, holdMs: 10_000 };
  const plan = aPlan({ risk: 'LOSS', gate, loss: 'what only {3} hold' });
  let held = anOperation({ plan });
  renderConsole(path, {
    answers: {
      Operation: () => ({ operation: held }),
      ConfirmOperation: () => {
        held = anOperation({
          plan,
          state: 'QUEUED',
          confirmedAt: new Date().toISOString(),
          notBefore: new Date(Date.now() + 10_000).toISOString(),
          actions: ['PAUSE', 'CANCEL'],
        });
        return { operation: held };
      },
    },
  });
  await user.type(await screen.findByLabelText('Type the name broker-a'), 'broker-a');
  await user.type(screen.getByLabelText('Reason, for the audit'), 'it burnt');
  await user.click(screen.getByRole('button', { name: 'Carry it out' }));
  expect(screen.getByText('Accept the loss, or discard the plan')).toBeVisible();
  expect(screen.getByText(/^It begins 10 s after you confirm/)).toBeVisible();

  await user.click(screen.getByRole('checkbox', { name: /^I accept .* what only \{3\} hold$/ }));
  await user.click(screen.getByRole('button', { name: 'Carry it out' }));

  expect(await screen.findByText(/^Begins in \d+ s$/)).toBeVisible();
  expect(screen.getByRole('button', { name: 'Cancel' })).toBeEnabled();
});

test('a plan whose fact has moved says which, and is planned again', async () => {
  const user = userEvent.setup();
  const next = '00000000-0000-4000-8000-000000000001';
  const { address } = renderConsole(path, {
    answers: {
      OperationFacts: () => ({
        operation: {
          id: operationId,
          movedFact: { name: 'master epoch', expected: '17', found: '18' },
        },
      }),
      Operation: ({ id }) => ({ operation: anOperation({ id: String(id) }) }),
      ReplanOperation: () => ({ operation: anOperation({ id: next }) }),
    },
  });

  expect(await screen.findByText('This plan has expired: master epoch changed')).toBeVisible();
  expect(screen.getByText(/^It was 17 at planning time and is 18 now/)).toBeVisible();
  expect(screen.queryByRole('button', { name: 'Carry it out' })).not.toBeInTheDocument();

  await user.click(screen.getByRole('button', { name: 'Plan again' }));

  await waitFor(() => expect(address()).toBe(`/operations/${next}`));
});

test('a plan whose facts could not be compared says so', async () => {
  const unread = graphqlError('unavailable', 'A store does not answer.', {
    operation: { id: operationId, movedFact: null },
  });
  renderConsole(path, { answers: { OperationFacts: () => unread } });

  expect(await screen.findByText('Whether the facts still hold is not known')).toBeVisible();
  expect(screen.getByRole('button', { name: 'Carry it out' })).toBeVisible();
});

test('a confirmation that comes too late leaves the plan void and says why', async () => {
  const user = userEvent.setup();
  let state = anOperation();
  renderConsole(path, {
    answers: {
      Operation: () => ({ operation: state }),
      ConfirmOperation: () => {
        state = anOperation({
          state: 'LAPSED',
          outcome: 'master epoch was 17 when this was planned and is now 18: plan again',
          actions: ['REPLAN'],
        });
        return graphqlError('precondition_failed', 'master epoch was 17 and is now 18');
      },
    },
  });
  await user.type(await screen.findByLabelText('Type the name broker-a'), 'broker-a');
  await user.type(screen.getByLabelText('Reason, for the audit'), 'planned work');
  await user.click(screen.getByRole('button', { name: 'Carry it out' }));

  expect(await screen.findByText('This plan has expired')).toBeVisible();
  expect(
    screen.getByText(/^master epoch was 17 when this was planned and is now 18/),
  ).toBeVisible();
  expect(standing()).toHaveTextContent('lapsed');
});

test('a plan that a check forbids can only be discarded or made again', async () => {
  const block = { name: 'they may go', verdict: 'BLOCK', why: 'one is alive', stockCode: 2009 };
  const plan = aPlan({ checks: [block as ReturnType<typeof aPlan>['checks'][number]] });
  renderConsole(path, answering(anOperation({ plan, actions: ['CANCEL', 'REPLAN'] })));

  expect(await screen.findByRole('alert')).toHaveTextContent(
    "This can't be carried outone is alive.",
  );
  expect(screen.queryByRole('button', { name: 'Carry it out' })).not.toBeInTheDocument();
  expect(screen.getByRole('button', { name: 'Discard the plan' })).toBeVisible();
});

test('a step shows the value before it and the one after, the changed fields first', async () => {
  const done = aStep({
    state: 'DONE',
    attemptCount: 2,
    before: { replica_ids: [1, 2], master_id: 1 },
    after: { replica_ids: [1, 2], master_id: 2 },
    beganAt: '2026-03-01T12:00:00Z',
    endedAt: '2026-03-01T12:00:00.300Z',
  });
  const follow = aStep({
    position: 1,
    title: 'Wait until all follow',
    state: 'RUNNING',
    before: { master_id: 2 },
    beganAt: '2026-03-01T12:00:01Z',
    error: 'broker 3 does not answer',
    attemptCount: 3,
  });
  renderConsole(path, answering(aRunningOperation({ steps: [done, follow] })));

  const journal = await screen.findByRole('table', { name: /Elect broker 2/ });
  const rows = within(journal)
    .getAllByRole('row')
    .map((row) => row.textContent);
  expect(rows).toEqual(['WhatBeforeAfter', 'master id12', 'replica ids1, 21, 2']);
  const open = screen.getByRole('table', { name: /Wait until all follow/ });
  expect(within(open).getByRole('row', { name: 'master id 2 not known yet' })).toBeVisible();
  expect(screen.getByText('broker 3 does not answer')).toBeVisible();
  expect(screen.getByText(/begun 3 times/)).toBeVisible();
});

test('what was last seen is said to be old while the control plane is away', async () => {
  let isAway = false;
  renderConsole(path, {
    answers: {
      Operation: () => (isAway ? new Raw('gone', 502) : { operation: aRunningOperation() }),
    },
  });
  await waitFor(() => expect(standing()).toHaveTextContent(/^running$/));

  isAway = true;
  await waitFor(() => expect(standing()).toHaveTextContent(/^running, last seen \d+ s ago$/));
  expect(standing().querySelector('[data-tone]')).toHaveAttribute('data-tone', 'unknown');

  isAway = false;
  await waitFor(() => expect(standing()).toHaveTextContent(/^running$/));
});

test('an unknown outcome is shown as unknown, with what to do (D21)', async () => {
  const user = userEvent.setup();
  const unknown = aRunningOperation({
    state: 'UNKNOWN',
    outcome: 'not read back: master',
    endedAt: new Date().toISOString(),
    readBack: [{ what: 'master', intended: '2', observed: null, agreement: 'UNKNOWN' }],
    actions: ['RETRY'],
    whyNotUndo: 'no master was elected',
  });
  const { calls } = renderConsole(path, {
    answers: {
      Operation: () => ({ operation: unknown }),
      RetryOperation: () => ({ operation: aRunningOperation() }),
    },
  });

  expect(await screen.findByText(/^The outcome is unknown: not read back/)).toBeVisible();
  const row = within(screen.getByRole('table', { name: 'Read back' })).getAllByRole('row')[1];
  expect(row).toHaveTextContent('master2unknownunknown');
  expect(screen.getByText(/no master was elected/)).toBeVisible();

  await user.click(screen.getByRole('button', { name: 'Try again' }));

  await waitFor(() =>
    expect(calls.some(({ operation }) => operation === 'RetryOperation')).toBe(true),
  );
});

test('an operation that is not there is said', async () => {
  renderConsole(path, {
    answers: { Operation: () => graphqlError('not_found', 'no operation 7') },
  });

  expect(await screen.findByRole('alert')).toHaveTextContent('The resource does not exist');
});
