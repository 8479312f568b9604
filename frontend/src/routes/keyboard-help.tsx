import { Modal } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { focusAct, focusFilter, useKeySequence } from '@/lib/use-key-sequence';
import classes from './keyboard-help.module.css';

const pages = [
  ['g o', '/', 'overview'],
  ['g t', '/topology', 'topology'],
  ['g r', '/replica-groups', 'replicaGroups'],
  ['g p', '/topics', 'topics'],
  ['g g', '/consumer-groups', 'consumerGroups'],
  ['g n', '/clients', 'clients'],
  ['g m', '/messages', 'messages'],
  ['g l', '/locks', 'locks'],
  ['g s', '/share-queues', 'shareQueues'],
  ['g w', '/timers', 'timers'],
  ['g d', '/transactions', 'transactions'],
  ['g b', '/containers', 'containers'],
  ['g f', '/findings', 'findings'],
  ['g c', '/capacity', 'capacity'],
  ['g x', '/operations', 'operations'],
  ['g a', '/audit', 'audit'],
  ['g u', '/access', 'access'],
] as const;

/** The keys that work everywhere, and the list of them under "?". */
export function KeyboardHelp() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [open, setOpen] = useState(false);
  const actions = useMemo(() => {
    const go = pages.map(
      ([keys, to]) =>
        [
          keys,
          () =>
            void navigate({ to, search: (now) => (now.cluster ? { cluster: now.cluster } : {}) }),
        ] as const,
    );
    return new Map<string, () => void>([
      ...go,
      ['/', focusFilter],
      ['e', focusAct],
      ['?', () => setOpen(true)],
    ]);
  }, [navigate]);
  useKeySequence(actions);
  const rows = [
    ...pages.map(([keys, , word]) => [keys, t('keys.go', { page: t(`nav.${word}`) })] as const),
    ['/', t('keys.filter')] as const,
    ['e', t('keys.act')] as const,
    ['?', t('keys.help')] as const,
  ];
  return (
    <Modal
      opened={open}
      onClose={() => setOpen(false)}
      title={t('keys.title')}
      closeButtonProps={{ 'aria-label': t('word.close') }}
      size="sm"
      centered
    >
      <dl className={classes.keys}>
        {rows.map(([keys, label]) => (
          <div key={keys} className={classes.row}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
