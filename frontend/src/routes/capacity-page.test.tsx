import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { aReport, aRow, reportPage } from '@/testing/builders';
import { renderConsole } from '@/testing/render-console';

function withReport(
  report = aReport(),
  disks = [aRow()],
  topicDays = [] as ReturnType<typeof aRow>[],
) {
  return {
    CapacityReports: () => reportPage([report]),
    CapacityReport: () => ({ capacityReport: { ...report, disks, topicDays } }),
  };
}

const REQUESTED = '00000000-0000-4000-8000-000000000009';

test('the disks stand in the order in which they fill up, unknown ones last', async () => {
  const disks = [
    aRow({ brokerName: 'never-1', daysUntilFull: null, note: 'the disk is not growing' }),
    aRow({ brokerName: 'later-1', daysUntilFull: 50 }),
    aRow({ brokerName: 'soon-1', daysUntilFull: 8.34 }),
  ];
  renderConsole('/capacity', { answers: withReport(aReport(), disks) });

  const table = await screen.findByRole('table', { name: 'Disks by days until full' });
  const rows = within(table).getAllByRole('row').slice(1);

  expect(rows.map((row) => within(row).getAllByRole('cell')[0]?.textContent)).toEqual([
    'soon-1',
    'later-1',
    'never-1',
  ]);
  expect(within(rows[0] as HTMLElement).getByText('8.3')).toBeVisible();
  expect(within(rows[2] as HTMLElement).getByText('unknown')).toBeVisible();
});

test('too little history is said before any figure', async () => {
  const report = aReport({ coverageFrom: '2026-03-01T07:00:00Z' });
  renderConsole('/capacity', { answers: withReport(report) });

  expect(await screen.findByText('Too little history')).toBeVisible();
  expect(screen.getByText(/Covers 3 h/)).toBeVisible();
});

test('a report without any history says that nothing can be said', async () => {
  const report = aReport({ coverageFrom: null, coverageTo: null, sampleCount: null });
  renderConsole('/capacity', { answers: withReport(report, []) });

  expect(await screen.findByText('No history at all')).toBeVisible();
});

test('bytes a day are laid out by topic and day', async () => {
  const days = ['2026-03-01', '2026-03-02'].map((day) =>
    aRow({ kind: 'TOPIC_DAY', topicName: 'orders', day, bytes: '1048576' }),
  );
  renderConsole('/capacity', { answers: withReport(aReport(), [aRow()], days) });

  const table = await screen.findByRole('table', { name: 'Bytes a day by topic and broker' });

  expect(within(table).getByRole('columnheader', { name: '2026-03-02' })).toBeVisible();
  expect(within(table).getAllByText('1 MiB')).toHaveLength(2);
  expect(within(table).getByText('2 MiB')).toBeVisible();
});

test('a failed report gives its reason', async () => {
  const report = aReport({ status: 'failed', error: 'the history cannot be read' });
  renderConsole('/capacity', { answers: withReport(report) });

  expect(await screen.findByRole('alert')).toHaveTextContent('the history cannot be read');
});

test('a requested report is opened and a second one is not offered meanwhile', async () => {
  const user = userEvent.setup();
  const planned = aReport({ id: REQUESTED, status: 'planned', startedAt: null, finishedAt: null });
  let reports = [] as ReturnType<typeof aReport>[];
  const { address } = renderConsole('/capacity', {
    answers: {
      CapacityReports: () => reportPage(reports),
      CapacityReport: () => ({ capacityReport: { ...planned, disks: [], topicDays: [] } }),
      RequestCapacityReport: () => {
        reports = [planned];
        return { requestCapacityReport: planned };
      },
    },
  });
  expect(await screen.findByText('No report has been made yet')).toBeVisible();

  await user.click(screen.getByRole('button', { name: 'Request a report' }));

  await waitFor(() => expect(address()).toBe(`/capacity?report=${REQUESTED}`));
  expect(await screen.findByRole('button', { name: 'A report is being made' })).toBeDisabled();
});
