import { Menu } from '@mantine/core';
import { IconChevronDown } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { WriteButton } from '@/components/write-button';
import { changeGroup, createGroup, deleteGroup } from '@/features/orders/group-orders';
import { createStaticTopic, importStaticTopic } from '@/features/orders/static-topic-orders';
import { createTopic } from '@/features/orders/topic-orders';
import { OrderModal } from './order-modal';
import type { TopicsOrder } from './topics-route';
import { useTopology } from './use-topology';
import { withinPage } from './within-page';

const staticWords = ['createStatic', 'importStatic'] as const;
const groupWords: readonly TopicsOrder[] = ['createGroup', 'changeGroup', 'deleteGroup'];

/** Creates topics, and creates, changes or deletes consumer groups; each leads to a plan first. */
export function TopicsActions({ clusterName }: { clusterName: string }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/topics' });
  const { order, group } = useSearch({ from: '/console/topics' });
  const groups = useTopology(clusterName).groups.map(({ name }) => name);
  const show = (wanted: TopicsOrder | undefined) =>
    void navigate({ search: (now) => ({ ...now, order: wanted }), ...withinPage });
  const kinds = {
    create: () => createTopic(clusterName, groups),
    createStatic: () => createStaticTopic(clusterName, groups),
    importStatic: () => importStaticTopic(clusterName),
    createGroup: () => createGroup(clusterName, groups),
    changeGroup: () => changeGroup(clusterName, groups, group),
    deleteGroup: () => deleteGroup(clusterName, groups, group),
  };
  return (
    <>
      <WriteButton data-act onClick={() => show('create')}>
        {t('topics.create')}
      </WriteButton>
      {staticWords.map((word) => (
        <WriteButton key={word} variant="default" onClick={() => show(word)}>
          {t(`topics.${word}`)}
        </WriteButton>
      ))}
      <Menu position="bottom-end" shadow="sm">
        <Menu.Target>
          <WriteButton variant="default" rightSection={<IconChevronDown size={13} aria-hidden />}>
            {t('topics.consumerGroup')}
          </WriteButton>
        </Menu.Target>
        <Menu.Dropdown>
          {groupWords.map((word) => (
            <Menu.Item key={word} onClick={() => show(word)}>
              {t(`topics.${word}`)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <OrderModal kind={order && kinds[order]()} onClose={() => show(undefined)} />
    </>
  );
}
