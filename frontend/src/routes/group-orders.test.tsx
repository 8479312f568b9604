import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { graphqlError } from '@/testing/control-plane';
import { aChange, aGroup, aReplica, changePage, groupDetail } from '@/testing/group-builders';
import { anOperation, operationId } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';

const path = '/replica-groups/broker-a';
const planned = () => ({ operation: anOperation() });

test('an election is planned as it was chosen, and its plan is shown', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole(path, { answers: { PlanOperation: planned } });
  await screen.findByRole('table', { name: 'Replicas' });

  await user.keyboard('e');
  const asked = screen.getByRole('combobox', { name: 'New master' });
  expect(asked).toHaveFocus();
  await user.click(asked);
  await user.click(await screen.findByRole('option', { name: 'Replica 2' }));
  await user.click(screen.getByRole('radio', { name: 'Now' }));
  await user.click(screen.getByRole('button', { name: 'Plan the election' }));

  await waitFor(() => expect(address()).toBe(`/operations/${operationId}`));
  expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables).toEqual({
    plan: {
      electMaster: {
        clusterName: 'regent',
        brokerGroupName: 'broker-a',
        brokerId: '2',
        mode: 'NOW',
        acceptsLoss: false,
      },
    },
    key: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
});

test('an operator accepts the loss of confirmed messages before the election is planned', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole(path, { answers: { PlanOperation: planned } });
  expect(await screen.findByText('byte 1,000, epoch 17')).toBeVisible();

  await user.click(
    await screen.findByRole('checkbox', {
      name: 'Allow the election of a replica that lacks confirmed messages.',
    }),
  );
  await user.click(screen.getByRole('button', { name: 'Plan the election' }));

  await waitFor(() => expect(address()).toBe(`/operations/${operationId}`));
  expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables).toMatchObject({
    plan: { electMaster: { brokerGroupName: 'broker-a', acceptsLoss: true } },
  });
});

test('a plan that is refused says why, and asks again under the same key', async () => {
  const user = userEvent.setup();
  const { calls } = renderConsole(path, {
    answers: { PlanOperation: () => graphqlError('conflict', 'broker 2 is no replica') },
  });
  await user.click(await screen.findByRole('button', { name: 'Plan the election' }));
  expect(await screen.findByRole('alert')).toHaveTextContent('broker 2 is no replica');

  await user.click(screen.getByRole('button', { name: 'Try again' }));

  await waitFor(() => {
    const keys = calls
      .filter(({ operation }) => operation === 'PlanOperation')
      .map(({ variables }) => variables.key);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBe(keys[1]);
  });
});

test('replicas are chosen to be forgotten one by one, or all with their group', async () => {
  const user = userEvent.setup();
  const group = aGroup();
  group.replicas[2] = aReplica({ brokerId: '3', isAlive: false });
  const { calls } = renderConsole(path, {
    answers: {
      ReplicaGroup: () => groupDetail(group),
      PlanOperation: () => graphqlError('conflict', 'not now'),
    },
  });
  await user.click(await screen.findByRole('button', { name: 'Forget…' }));
  const dialog = within(await screen.findByRole('dialog'));
  await user.click(dialog.getByRole('button', { name: 'Plan it' }));
  expect(await dialog.findByText('Choose at least one')).toBeVisible();
  await user.click(dialog.getByRole('checkbox', { name: '3 at 10.0.0.3:10911, not heard' }));
  await user.click(dialog.getByRole('button', { name: 'Plan it' }));
  await dialog.findByRole('alert');
  await user.click(dialog.getByRole('radio', { name: 'The whole group' }));
  await user.click(dialog.getByRole('checkbox', { name: /^Forget the whole group even if/ }));
  await user.click(dialog.getByRole('button', { name: 'Plan it' }));

  const asked = () =>
    calls
      .filter(({ operation }) => operation === 'PlanOperation')
      .map(({ variables }) => (variables.plan as { forgetReplicas: unknown }).forgetReplicas);
  const name = { clusterName: 'regent', brokerGroupName: 'broker-a' };
  await waitFor(() =>
    expect(asked()).toEqual([
      { ...name, brokerIds: ['3'], includesLiving: false },
      { ...name, brokerIds: [], includesLiving: true },
    ]),
  );
});

test('a replica is preferred as master, or none any more', async () => {
  const user = userEvent.setup();
  const group = { ...aGroup(), preferredId: '1' };
  const { calls } = renderConsole(path, {
    answers: {
      ReplicaGroup: () => groupDetail(group),
      PlanOperation: () => graphqlError('conflict', 'not now'),
    },
  });
  await user.click(await screen.findByRole('button', { name: 'Prefer…' }));
  const dialog = within(await screen.findByRole('dialog'));
  const choice = dialog.getByRole('combobox', { name: 'Preferred replica' });
  expect(choice).toHaveValue('Replica 1');
  await user.click(choice);
  await user.click(await screen.findByRole('option', { name: 'Replica 2' }));
  await user.click(dialog.getByRole('button', { name: 'Plan it' }));
  await dialog.findByRole('alert');
  await user.click(choice);
  await user.click(await screen.findByRole('option', { name: 'Replica 2' }));
  await user.click(dialog.getByRole('button', { name: 'Plan it' }));

  const asked = () =>
    calls
      .filter(({ operation }) => operation === 'PlanOperation')
      .map(({ variables }) => (variables.plan as { preferMaster: unknown }).preferMaster);
  const name = { clusterName: 'regent', brokerGroupName: 'broker-a' };
  await waitFor(() =>
    expect(asked()).toEqual([
      { ...name, brokerId: '2' },
      { ...name, brokerId: null },
    ]),
  );
});

function candidate(brokerId: string, brokerGroupName = 'broker-b') {
  return {
    clusterName: 'regent',
    brokerGroupName,
    brokerId,
    address: `10.0.0.${brokerId}:10911`,
    epoch: brokerId === '1' ? 5 : null,
    maxOffset: brokerId === '1' ? '900' : null,
    masterId: null,
    hasCode: true,
    heardAt: new Date().toISOString(),
  };
}

test('what is refused of one lost group is not said of another', async () => {
  const user = userEvent.setup();
  const nodes = [candidate('1'), candidate('2', 'broker-c')];
  renderConsole('/replica-groups', {
    answers: {
      AdoptionCandidates: () => ({ adoptionCandidates: { totalCount: 2, nodes } }),
      PlanOperation: () => graphqlError('conflict', 'not now'),
    },
  });
  const lost = await screen.findByRole('region', { name: /^Brokers of broker-b/ });

  await user.click(within(lost).getByRole('button', { name: 'Plan the adoption' }));

  expect(await within(lost).findByRole('alert')).toHaveTextContent('not now');
  expect(screen.getAllByRole('alert')).toHaveLength(1);
});

test('replicas that could not be forgotten are not named in a form that is opened again', async () => {
  const user = userEvent.setup();
  renderConsole(path, {
    answers: { PlanOperation: () => graphqlError('conflict', 'not now') },
  });
  await user.click(await screen.findByRole('button', { name: 'Forget…' }));
  const dialog = await screen.findByRole('dialog');
  await user.click(within(dialog).getByRole('radio', { name: 'The whole group' }));
  await user.click(within(dialog).getByRole('button', { name: 'Plan it' }));
  await within(dialog).findByRole('alert');

  await user.keyboard('{Escape}');
  await waitFor(() => expect(dialog).not.toBeInTheDocument());
  await user.click(screen.getByRole('button', { name: 'Forget…' }));

  expect(within(await screen.findByRole('dialog')).queryByRole('alert')).toBeNull();
});

test('brokers of a lost group are adopted by their facts unless the operator chooses otherwise', async () => {
  const user = userEvent.setup();
  const nodes = [candidate('1'), candidate('2')];
  const { address, calls } = renderConsole('/replica-groups', {
    answers: {
      AdoptionCandidates: () => ({ adoptionCandidates: { totalCount: 2, nodes } }),
      PlanOperation: planned,
    },
  });
  const table = await screen.findByRole('table', { name: 'Candidates of broker-b' });
  const [, first, second] = within(table).getAllByRole('row') as HTMLElement[];
  expect(within(first as HTMLElement).getByText('900')).toBeVisible();
  expect(within(second as HTMLElement).getAllByText('unknown')).toHaveLength(3);

  await user.click(screen.getByRole('checkbox', { name: 'Replica 2' }));
  await user.type(screen.getByLabelText('Epochs at least'), '7');
  await user.click(screen.getByRole('button', { name: 'Plan the adoption' }));

  await waitFor(() => expect(address()).toBe(`/operations/${operationId}`));
  const asked = calls.find(({ operation }) => operation === 'PlanOperation')?.variables;
  expect(asked?.plan).toEqual({
    adoptReplicas: {
      clusterName: 'regent',
      brokerGroupName: 'broker-b',
      brokerIds: ['1'],
      masterId: null,
      leastEpoch: 7,
      acceptsLoss: false,
    },
  });
});

test('a change that an operation caused leads to it', async () => {
  const cause = `operation ${operationId}/0 of admin`;
  renderConsole(path, { answers: { GroupChanges: () => changePage([aChange({ cause })]) } });

  const history = await screen.findByRole('table', { name: 'History' });

  expect(within(history).getByRole('link', { name: cause })).toHaveAttribute(
    'href',
    expect.stringContaining(`/operations/${operationId}`),
  );
});
