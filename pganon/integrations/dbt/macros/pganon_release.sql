{#
  A model that is a release of pganon: asks for it, waits for a worker to make it, and makes sure
  that it is shown. What is released says the policy in the database, so the model has no SQL.

  config:
    release      name of the release; default: the name of the model
    parameters   what the policy lets requesters choose, such as {"k": 10}
    wait         how long to wait for the worker; default: 1 hour
    policy_hash  fail unless the version was made by this policy
    max_age      fail if the version was made, or found to be up to date, longer ago
#}
{% materialization pganon_release, adapter='postgres' %}
  {%- set release = config.get('release', default=model['name']) -%}
  {%- set target = this.incorporate(type='view') -%}
  {%- do pganon.check_model(sql) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {#- The driver begins a transaction with the first statement, and CALL needs none. -#}
  {%- do pganon.leave_transaction() -%}
  {%- do pganon.check_view(release, target, must_exist=False) -%}
  {%- do pganon.leave_transaction() -%}
  {#- A refusal as a row: as an error it would have lines of the server's functions. -#}
  {% call statement('main', fetch_result=True, auto_begin=False) %}
    CALL pganon.ask(
        NULL,
        {{ pganon.literal(release) }},
        {{ pganon.literal(tojson(config.get('parameters', default={}))) }}::pg_catalog.jsonb,
        {{ pganon.literal(config.get('wait', default='1 hour')) }}::interval
    )
  {% endcall %}
  {%- set failed, said, hint = load_result('main')['data'][0] -%}
  {%- if failed -%}
    {{ exceptions.raise_database_error(said ~ '\nHINT: ' ~ hint) }}
  {%- endif -%}
  {%- set version = pganon.shown_version(release) -%}
  {%- do pganon.check_view(release, target, must_exist=True) -%}
  {%- do log(release ~ ': version ' ~ version, info=True) -%}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({'relations': [target]}) }}
{% endmaterialization %}


{% macro leave_transaction() %}
  {% call statement(auto_begin=False) %}
    commit
  {% endcall %}
{% endmacro %}


{% macro shown_version(release) %}
  {%- set hash, age = config.get('policy_hash'), config.get('max_age') -%}
  {%- set found = run_query(
      'SELECT pganon.assert_release(' ~ pganon.literal(release) ~ ', '
      ~ (pganon.literal(hash) if hash is not none else 'NULL') ~ '::pg_catalog.text, '
      ~ (pganon.literal(age) if age is not none else 'NULL') ~ '::interval)'
  ) -%}
  {{ return(found.rows[0][0]) }}
{% endmacro %}


{#- Other models find the release where dbt looks for this one: alias and schema must be a view's. -#}
{% macro check_view(release, target, must_exist) %}
  {%- set rows = run_query(
      'SELECT DISTINCT c.view FROM pganon.release_columns AS c WHERE c.release = '
      ~ pganon.literal(release) ~ ' ORDER BY 1'
  ).rows -%}
  {%- set views = rows | map(attribute=0) | list -%}
  {%- set here = run_query(
      "SELECT pg_catalog.format('%I.%I', " ~ pganon.literal(target.schema) ~ ', '
      ~ pganon.literal(target.identifier) ~ ')'
  ).rows[0][0] -%}
  {%- if here not in views and (views or must_exist) -%}
    {{ exceptions.raise_compiler_error(
        'the release ' ~ release ~ ' is ' ~ (views | join(', ')) ~ ', but this model would be '
        ~ here ~ ': set alias and schema of the model'
    ) }}
  {%- endif -%}
{% endmacro %}


{#- What dbt would do for other models and nobody would do here is an error, not ignored. -#}
{% macro check_model(text) %}
  {%- set code = modules.re.sub('--[^\n]*', '', text) | trim -%}
  {%- if code -%}
    {{ exceptions.raise_compiler_error(
        'a model that is a release has no SQL: the policy in the database says what is released'
    ) }}
  {%- endif -%}
  {%- if config.get('grants') -%}
    {{ exceptions.raise_compiler_error(
        'a release has no grants in dbt: the policy names its readers under publish.readers'
    ) }}
  {%- endif -%}
  {%- if config.get('persist_docs') -%}
    {{ exceptions.raise_compiler_error(
        'persist_docs has no effect on a release: its comments are made by pganon'
    ) }}
  {%- endif -%}
  {%- if config.get('contract').enforced -%}
    {{ exceptions.raise_compiler_error(
        'a release has no contract in dbt: its columns follow from the policy'
    ) }}
  {%- endif -%}
  {%- for hook in pre_hooks + post_hooks if hook.transaction -%}
    {{ exceptions.raise_compiler_error(
        'hooks of a release cannot run in a transaction: write before_begin(...) or'
        ~ ' after_commit(...), or transaction: false'
    ) }}
  {%- endfor -%}
{% endmacro %}


{% macro literal(value) %}
  {%- do return("'" ~ (value | string | replace("'", "''")) ~ "'") -%}
{% endmacro %}
