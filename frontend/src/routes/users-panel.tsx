import { Button, Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Pager } from '@/components/pager';
import { Panel } from '@/components/panel';
import { QueryView } from '@/components/query-view';
import { usersOf } from '@/features/access/access-queries';
import { ResetForm } from '@/features/access/reset-form';
import { UserDeedForm } from '@/features/access/user-deed-form';
import { UserForm } from '@/features/access/user-form';
import { type UserAct, UserTable } from '@/features/access/user-table';
import type { UserFieldsFragment } from '@/gql/operations';
import { usePageTrail } from './use-page-trail';

type Open = { act: 'add' } | { act: UserAct; user: UserFieldsFragment };

/** Who may sign in; people are added, and each one's role, password and way in are seen to. */
export function UsersPanel({ after }: { after: string | undefined }) {
  const { t } = useTranslation();
  const query = useQuery(usersOf(after));
  const trail = usePageTrail();
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const act = useCallback((user: UserFieldsFragment, wanted: UserAct) => {
    setOpen({ act: wanted, user });
  }, []);
  const title =
    open === undefined || open.act === 'add'
      ? t('users.addTitle')
      : t(`userDeed.${open.act}.label`, { name: open.user.name });
  return (
    <Panel
      title={t('users.list')}
      aside={
        <Button data-act onClick={() => setOpen({ act: 'add' })}>
          {t('users.open')}
        </Button>
      }
      flush
    >
      <QueryView query={query}>
        {({ users: { nodes, totalCount, pageInfo } }) => {
          const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
          return (
            <>
              <UserTable users={nodes} onAct={act} />
              <Pager
                label={t('users.pages')}
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
        opened={open !== undefined}
        onClose={close}
        title={title}
        closeButtonProps={{ 'aria-label': t('word.close') }}
        centered
      >
        {open?.act === 'add' ? <UserForm onDone={close} /> : null}
        {open?.act === 'reset' ? <ResetForm name={open.user.name} onDone={close} /> : null}
        {open && open.act !== 'add' && open.act !== 'reset' ? (
          <UserDeedForm user={open.user} deed={open.act} onDone={close} />
        ) : null}
      </Modal>
    </Panel>
  );
}
