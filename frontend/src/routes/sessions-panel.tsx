import { Button, Modal } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { ErrorNotice } from '@/components/error-notice';
import { Pager } from '@/components/pager';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { endSession, endSessions, sessionsOf } from '@/features/access/access-queries';
import { SessionTable } from '@/features/access/session-table';
import { SureForm } from '@/features/access/sure-form';
import { usePageTrail } from './use-page-trail';

type SessionsPanelProps = {
  /** The user whose sessions are shown; undefined shows those of all users. */
  userName: string | undefined;
  ownName: string;
  after: string | undefined;
};

/** Where people are signed in; one session is ended here, or all of one's own. */
export function SessionsPanel({ userName, ownName, after }: SessionsPanelProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const query = useQuery(sessionsOf(userName, after));
  const trail = usePageTrail();
  const end = useMutation(endSession(client));
  const [isSure, setIsSure] = useState(false);
  // The user's session here ends too: the next answer shows that and leads to the sign-in page.
  const endAll = useMutation(endSessions(client));
  return (
    <Panel
      title={t(userName === undefined ? 'sessions.list' : 'sessions.mine')}
      aside={
        <Button variant="default" onClick={() => setIsSure(true)}>
          {t('sessions.everywhere')}
        </Button>
      }
      flush
    >
      {end.error ? (
        <ErrorNotice error={end.error} onRetry={() => end.variables && end.mutate(end.variables)} />
      ) : null}
      <QueryView query={query}>
        {({ sessions: { nodes, totalCount, pageInfo } }) => {
          const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
          if (totalCount === 0) return <EmptyState title={t('sessions.none')} />;
          return (
            <>
              <SessionTable sessions={nodes} isBusy={end.isPending} onEnd={end.mutate} />
              <Pager
                label={t('sessions.pages')}
                shown={nodes.length}
                total={totalCount}
                onFirst={after ? trail.toFirst : undefined}
                onPrevious={trail.toPrevious}
                onNext={next ? () => trail.toNext(next) : undefined}
              />
            </>
          );
        }}
      </QueryView>
      <Modal
        opened={isSure}
        onClose={() => setIsSure(false)}
        title={t('sessions.everywhereTitle')}
        closeButtonProps={{ 'aria-label': t('word.close') }}
        centered
      >
        <SureForm
          lead={t('sessions.everywhereLead', { name: ownName })}
          word={t('sessions.everywhereDo')}
          deed={endAll}
          given={ownName}
        />
      </Modal>
    </Panel>
  );
}
