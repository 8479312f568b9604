import { Button, Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { EmptyState } from '@/components/empty-state';
import { Pager } from '@/components/pager';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { tokensOf } from '@/features/access/access-queries';
import { roleOf } from '@/features/access/roles';
import { TokenForm } from '@/features/access/token-form';
import { TokenTable } from '@/features/access/token-table';
import type { TokenFieldsFragment } from '@/gql/operations';
import { RevokeToken } from './revoke-token';
import { usePageTrail } from './use-page-trail';

type TokensPanelProps = {
  /** The user whose tokens are shown; undefined shows those of all users. */
  userName: string | undefined;
  ownRole: string;
  after: string | undefined;
};

/** The tokens that programs speak with; made and revoked here. */
export function TokensPanel({ userName, ownRole, after }: TokensPanelProps) {
  const { t } = useTranslation();
  const query = useQuery(tokensOf(userName, after));
  const trail = usePageTrail();
  const [isMaking, setIsMaking] = useState(false);
  const [revoked, setRevoked] = useState<TokenFieldsFragment>();
  return (
    <Panel
      title={t(userName === undefined ? 'tokens.list' : 'tokens.mine')}
      aside={
        <Button data-act onClick={() => setIsMaking(true)}>
          {t('tokens.open')}
        </Button>
      }
      flush
    >
      <QueryView query={query}>
        {({ apiTokens: { nodes, totalCount, pageInfo } }) => {
          const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
          if (totalCount === 0) {
            return <EmptyState title={t('tokens.none')}>{t('tokens.noneNext')}</EmptyState>;
          }
          return (
            <>
              <TokenTable tokens={nodes} onRevoke={setRevoked} />
              <Pager
                label={t('tokens.pages')}
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
        opened={isMaking}
        onClose={() => setIsMaking(false)}
        title={t('tokens.openTitle')}
        closeButtonProps={{ 'aria-label': t('word.close') }}
        centered
      >
        <TokenForm ownRole={roleOf(ownRole)} onDone={() => setIsMaking(false)} />
      </Modal>
      <Modal
        opened={revoked !== undefined}
        onClose={() => setRevoked(undefined)}
        title={t('tokens.revokeLabel', { name: revoked?.name })}
        closeButtonProps={{ 'aria-label': t('word.close') }}
        centered
      >
        {revoked ? (
          <RevokeToken
            key={revoked.id}
            id={revoked.id}
            // An answer may come late, when another token is asked about.
            onRevoked={() => setRevoked((now) => (now?.id === revoked.id ? undefined : now))}
          />
        ) : null}
      </Modal>
    </Panel>
  );
}
