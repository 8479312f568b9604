import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { aContainer, containersPage } from '@/testing/container-builders';
import { anOperation, operationId } from '@/testing/operation-builders';
import { renderConsole } from '@/testing/render-console';

const table = { name: 'Container 127.0.0.1:10811' };

test('a container shows its brokers, and why one does not run', async () => {
  renderConsole('/containers');

  const brokers = within(await screen.findByRole('table', table));

  expect(brokers.getByRole('link', { name: 'broker-a-2' })).toBeVisible();
  for (const text of ['/etc/a.conf', 'runs', 'listenPort=many: must be a whole number']) {
    expect(brokers.getByText(text)).toBeVisible();
  }
  expect(await violations(screen.getByRole('main'))).toEqual([]);
});

test('a container that does not answer says why, and a silent broker is named', async () => {
  const silent = { name: 'broker-b-0', address: '127.0.0.1:10921', why: 'it does not answer' };
  const container = aContainer({ whyUnknown: 'no answer within 3 s' });
  renderConsole('/containers', {
    answers: { Containers: () => containersPage([container], [silent]) },
  });

  expect(await screen.findByText(/no answer within 3 s/)).toBeVisible();
  expect(screen.getByText('broker-b-0 (127.0.0.1:10921): it does not answer')).toBeVisible();
});

test('a cluster may have no container', async () => {
  renderConsole('/containers', { answers: { Containers: () => containersPage([]) } });

  expect(await screen.findByText('No broker reports a container')).toBeVisible();
});

test('a broker is added by way of a plan', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole('/containers', {
    answers: { PlanOperation: () => ({ operation: anOperation() }) },
  });
  await screen.findByRole('table', table);

  await user.click(screen.getByRole('button', { name: 'Add a broker…' }));
  const form = within(await screen.findByRole('dialog'));
  await user.type(form.getByRole('textbox', { name: /Address of the container/ }), 'h:10811');
  await user.type(form.getByRole('textbox', { name: /File of the broker/ }), '/etc/c.conf');
  await user.type(form.getByRole('textbox', { name: /Broker group/ }), 'broker-c');
  await user.click(form.getByRole('button', { name: 'Plan it' }));

  await waitFor(() => expect(address()).toBe(`/operations/${operationId}`));
  expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan).toEqual({
    addBroker: {
      clusterName: 'regent',
      containerAddress: 'h:10811',
      configPath: '/etc/c.conf',
      brokerGroupName: 'broker-c',
      brokerId: '0',
    },
  });
});

test('a broker is removed by way of a plan', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole('/containers', {
    answers: { PlanOperation: () => ({ operation: anOperation() }) },
  });
  await screen.findByRole('table', table);

  await user.click(screen.getByRole('button', { name: 'Remove broker-a-2 from its container' }));
  const form = within(await screen.findByRole('dialog'));
  await user.click(form.getByRole('button', { name: 'Plan it' }));

  await waitFor(() => expect(address()).toBe(`/operations/${operationId}`));
  expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan).toEqual({
    removeBroker: {
      clusterName: 'regent',
      brokerGroupName: 'broker-a',
      brokerId: '2',
      containerAddress: '127.0.0.1:10811',
      configPath: '/etc/a.conf',
      interruptsGroup: false,
    },
  });
});

test('a broker without a known id is removed by its file', async () => {
  const user = userEvent.setup();
  const stopped = {
    clusterName: 'regent',
    brokerGroupName: 'broker-g',
    name: null,
    ownId: null,
    isMaster: false,
    path: '/etc/g.conf',
    failure: 'cannot listen on 127.0.0.1:10931',
  };
  const container = aContainer();
  const { address, calls } = renderConsole('/containers', {
    answers: {
      Containers: () =>
        containersPage([{ ...container, brokers: [...container.brokers, stopped] }]),
      PlanOperation: () => ({ operation: anOperation() }),
    },
  });
  await screen.findByRole('table', table);

  await user.click(screen.getByRole('button', { name: 'Remove /etc/g.conf from its container' }));
  const form = within(await screen.findByRole('dialog'));
  await user.click(form.getByRole('button', { name: 'Plan it' }));

  await waitFor(() => expect(address()).toBe(`/operations/${operationId}`));
  expect(screen.queryByRole('button', { name: /Remove .etc.b.conf/ })).toBeNull();
  expect(calls.find(({ operation }) => operation === 'PlanOperation')?.variables.plan).toEqual({
    removeBroker: {
      clusterName: 'regent',
      brokerGroupName: 'broker-g',
      brokerId: '0',
      containerAddress: '127.0.0.1:10811',
      configPath: '/etc/g.conf',
      interruptsGroup: false,
    },
  });
});
