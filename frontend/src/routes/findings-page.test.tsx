import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { graphqlError } from '@/testing/control-plane';
import { aFinding, findingPage, openFindingsOf } from '@/testing/finding-builders';
import { renderConsole } from '@/testing/render-console';

test('a broken invariant is shown with its evidence, what to do, and since when', async () => {
  const bad = aFinding({
    id: '8',
    severity: 'CRITICAL',
    subject: 'broker-a-2',
    brokerGroupName: 'broker-a',
    title: 'Two lead',
  });
  renderConsole('/findings', { answers: { Findings: () => findingPage([bad, aFinding()]) } });

  const list = await screen.findByRole('list', { name: 'Findings' });
  const [first, second] = within(list).getAllByRole('listitem');

  expect(within(first as HTMLElement).getByText('critical')).toBeVisible();
  expect(within(first as HTMLElement).getByRole('link', { name: 'broker-a-2' })).toHaveAttribute(
    'href',
    expect.stringMatching(/^\/replica-groups\/broker-a(\?cluster=regent)?$/),
  );
  expect(within(second as HTMLElement).getByText('topics: 12')).toBeVisible();
  expect(second).toHaveTextContent('Start a broker of the group, or forget it: ');
  expect(within(second as HTMLElement).getByText('regent broker forget broker-b').tagName).toBe(
    'CODE',
  );
  expect(await violations(document.body)).toEqual([]);
});

test('what has ended is asked for apart, and says until when it stood', async () => {
  const user = userEvent.setup();
  const ended = aFinding({ closedAt: '2026-11-22T10:05:00Z' });
  const { address, calls } = renderConsole('/findings', {
    answers: { Findings: ({ isOpen }) => findingPage(isOpen ? [] : [ended]) },
  });
  expect(await screen.findByText('Nothing is broken and no replica is missing')).toBeVisible();

  await user.click(screen.getByRole('radio', { name: 'Ended' }));

  expect(await screen.findByText('ended')).toBeVisible();
  expect(screen.getByText(/until/)).toBeVisible();
  expect(address()).toBe('/findings?state=closed');
  await waitFor(() =>
    expect(calls.findLast(({ operation }) => operation === 'Findings')?.variables).toMatchObject({
      clusterName: 'regent',
      isOpen: false,
    }),
  );
});

test('findings that could not be read are not called none', async () => {
  renderConsole('/findings', {
    answers: { Findings: () => graphqlError('unavailable', 'the database does not answer') },
  });

  expect(await screen.findByRole('alert')).toHaveTextContent('the database does not answer');
  expect(screen.queryByText('Nothing is broken and no replica is missing')).toBeNull();
});

test('from every page the open findings are seen, with the worst of them', async () => {
  renderConsole('/topics', {
    answers: { OpenFindings: () => openFindingsOf('WARNING', 'CRITICAL') },
  });

  const link = await screen.findByRole('link', { name: 'Findings, 2 open, the worst critical' });

  expect(link).toHaveAttribute('href', expect.stringContaining('/findings'));
});

test('the overview leads to the findings that are open', async () => {
  renderConsole('/', { answers: { OpenFindings: () => openFindingsOf('WARNING') } });

  const line = await screen.findByRole('link', { name: 'One finding is open, a warning.' });

  expect(line).toHaveAttribute('href', expect.stringContaining('/findings'));
});

test('the overview distinguishes none from unknown', async () => {
  renderConsole('/');
  expect(await screen.findByText('No finding is open.')).toBeVisible();
  cleanup();

  renderConsole('/', {
    answers: { OpenFindings: () => graphqlError('unavailable', 'the database does not answer') },
  });
  expect(await screen.findByText('Whether findings are open is unknown.')).toBeVisible();
});

test('a finding about members leads to their consumer group and names what differs', async () => {
  // Case B3.
  const finding = aFinding({
    code: 'SUBSCRIPTIONS_DIFFER',
    title: 'Members of a consumer group contradict each other',
    subject: 'billing',
    brokerGroupName: null,
    evidence: { subscriptions: { 'orders (TAG *)': ['c1'], 'refunds (TAG *)': ['c2'] } },
  });
  renderConsole('/findings', { answers: { Findings: () => findingPage([finding]) } });

  const link = await screen.findByRole('link', { name: 'billing' });

  expect(link).toHaveAttribute('href', expect.stringContaining('/consumer-groups/billing'));
  expect(screen.getByText(/orders \(TAG \*\) c1, refunds \(TAG \*\) c2/)).toBeVisible();
});
