import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { violations } from '@/testing/axe';
import { graphqlError } from '@/testing/control-plane';
import { aBody, aMessage, aMessageDetail, messagePage } from '@/testing/message-builders';
import { renderConsole } from '@/testing/render-console';

test('nothing is requested before a search is entered', async () => {
  const { calls } = renderConsole('/messages');

  expect(await screen.findByText('Choose which messages to find')).toBeVisible();
  expect(calls.some(({ operation }) => operation.includes('Message'))).toBe(false);
});

test('a search by key goes into the address and to the server', async () => {
  const user = userEvent.setup();
  const { address, calls } = renderConsole('/messages', {
    answers: {
      FoundMessages: () => ({
        foundMessages: { nodes: [aMessage()], isComplete: false, unknown: [] },
      }),
    },
  });

  await user.click(await screen.findByRole('radio', { name: 'Key' }));
  await user.type(screen.getByLabelText('Topic'), 'orders');
  await user.type(screen.getByRole('textbox', { name: 'Key' }), '4711{Enter}');

  expect(await screen.findByRole('link', { name: /^7F000001/ })).toBeVisible();
  expect(address()).toBe('/messages?by=key&topic=orders&key=%224711%22');
  expect(calls.findLast((one) => one.operation === 'FoundMessages')?.variables).toMatchObject({
    key: '4711',
    isUnique: false,
  });
  expect(screen.getByText('There may be more')).toBeVisible();
  expect(await violations(document.body)).toEqual([]);
});

test('pages of a time follow each other by cursor', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/messages?topic=orders&by=time', {
    answers: {
      Messages: ({ after }) =>
        after === 'ImsxIg'
          ? messagePage([aMessage({ queueOffset: '41001' })], 'ImsyIg')
          : messagePage([aMessage()], 'ImsxIg', true),
    },
  });
  await screen.findByText('41,000');

  await user.click(screen.getByRole('button', { name: 'Next' }));

  expect(await screen.findByText('41,001')).toBeVisible();
  expect(address()).toContain('after=ImsxIg');
  expect(screen.getByRole('button', { name: 'Next' })).toBeDisabled();
});

test('what is followed goes on where the answer before ended', async () => {
  let number = 0;
  const { calls } = renderConsole('/messages?topic=orders&by=follow', {
    answers: {
      Messages: () => {
        number += 1;
        return messagePage(
          [aMessage({ queueOffset: String(number) })],
          ['ImsxIg', 'ImsyIg'][number - 1],
        );
      },
    },
  });

  const table = await screen.findByRole('table', { name: 'Messages' });
  await waitFor(() => expect(within(table).getAllByRole('row').length).toBeGreaterThan(2));

  const asked = calls.filter(({ operation }) => operation === 'Messages');
  expect(asked[0]?.variables).toMatchObject({ after: null, within: { fromLatest: true } });
  expect(asked[1]?.variables).toMatchObject({ after: 'ImsxIg' });
});

test('a topic too fast to follow says so and is followed from its end again', async () => {
  const { calls } = renderConsole('/messages?topic=orders&by=follow', {
    answers: {
      Messages: ({ after }) => {
        if (after === null) return messagePage([], 'end');
        if (after === 'end') return messagePage([aMessage()], 'behind', true);
        throw new Error(`what lies behind is not asked for: ${after}`);
      },
    },
  });

  expect(await screen.findByText('More messages come than are shown')).toBeVisible();
  expect(screen.getByText(/^More than 100 messages arrived between two requests/)).toBeVisible();
  expect(screen.getByText('41,000')).toBeVisible();

  const followed = () =>
    calls.flatMap(({ operation, variables }) =>
      operation === 'Messages' ? [[variables.after, variables.first]] : [],
    );
  await waitFor(() => expect(followed().length).toBeGreaterThanOrEqual(4));
  expect(followed().slice(0, 4)).toEqual([
    [null, 100],
    ['end', 100],
    [null, 100],
    ['end', 100],
  ]);
});

test('a message shows where it lies, how far groups are, and its body', async () => {
  const user = userEvent.setup();
  const { address } = renderConsole('/messages/7F00000100002A9F0000000000000000', {
    answers: {
      Message: () => ({ message: aMessageDetail() }),
      MessageBody: ({ form }) =>
        form === 'HEX' ? aBody({ form: 'HEX', content: '7b22' }) : aBody(),
    },
  });

  expect(await screen.findByText('2 at 41,000')).toBeVisible();
  expect(screen.getByText('in retry')).toBeVisible();
  expect(await screen.findByText('{ "amount": 3 }')).toBeVisible();
  await user.click(screen.getByRole('radio', { name: 'Hex' }));

  expect(await screen.findByText('7b22')).toBeVisible();
  expect(address()).toContain('form=HEX');
  expect(await violations(document.body)).toEqual([]);
});

test('a user who may not read bodies sees the reason, and all the rest', async () => {
  renderConsole('/messages/7F00000100002A9F0000000000000000', {
    answers: {
      Message: () => ({ message: aMessageDetail() }),
      MessageBody: () => graphqlError('forbidden', 'it takes the role operator'),
    },
  });

  expect(await screen.findByText('2 at 41,000')).toBeVisible();
  expect(await screen.findByText('Your role does not allow this')).toBeVisible();
});
