//! Chat templates in the style of each family, written for these tests.

/// Qwen: `ChatML` with thinking, and tools in the instructions.
pub(crate) const QWEN: &str = r#"
{%- if tools %}
    {{- '<|im_start|>system\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\n\n' }}
    {%- endif %}
    {{- 'These are the tools:\n<tools>' }}
    {%- for tool in tools %}
        {{- '\n' }}{{- tool | tojson }}
    {%- endfor %}
    {{- '\n</tools>\nCall with JSON between <tool_call> and </tool_call>.<|im_end|>\n' }}
{%- elif messages[0].role == 'system' %}
    {{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}
{%- endif %}
{%- set ns = namespace(asked=0) %}
{%- for message in messages[::-1] %}
    {%- if message.role == 'user' and ns.asked == 0 %}
        {%- set ns.asked = messages|length - 1 - loop.index0 %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.role == 'user' %}
        {{- '<|im_start|>user\n' + message.content + '<|im_end|>\n' }}
    {%- elif message.role == 'tool' %}
        {{- '<|im_start|>user\n<tool_response>\n' + message.content + '\n</tool_response><|im_end|>\n' }}
    {%- elif message.role == 'assistant' %}
        {{- '<|im_start|>assistant\n' }}
        {%- if message.reasoning_content is string and loop.index0 > ns.asked %}
            {{- '<think>\n' + message.reasoning_content.strip('\n') + '\n</think>\n\n' }}
        {%- endif %}
        {{- message.content }}
        {%- for call in message.tool_calls or [] %}
            {%- if (loop.first and message.content) or (not loop.first) %}{{- '\n' }}{%- endif %}
            {{- '<tool_call>\n{"name": "' }}{{- call.function.name }}{{- '", "arguments": ' }}
            {{- call.function.arguments | tojson }}{{- '}\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\n\n</think>\n\n' }}
    {%- endif %}
{%- endif %}
"#;

/// Its special tokens.
pub(crate) const QWEN_MARKS: [&str; 2] = ["<|im_start|>", "<|im_end|>"];
pub(crate) const QWEN_NAMED: [&str; 4] = ["<think>", "</think>", "<tool_call>", "</tool_call>"];

/// Llama 3: headers, the date, tools in the first user message, calls as bare JSON.
pub(crate) const LLAMA: &str = r#"{{- bos_token }}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content'] | trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\n\nToday is " + strftime_now("%d %b %Y") + "\n\n" }}
{{- system_message + "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' }}
        {%- if tools is not none and loop.first %}
            {%- for t in tools %}{{- t | tojson(indent=4) }}{{- "\n\n" }}{%- endfor %}
        {%- endif %}
        {{- message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if message.tool_calls | length != 1 %}
            {{- raise_exception("This model makes one call at a time.") }}
        {%- endif %}
        {%- set call = message.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\n\n{"name": "' + call.name + '", "parameters": ' }}
        {{- call.arguments | tojson }}{{- "}<|eot_id|>" }}
    {%- else %}
        {{- "<|start_header_id|>ipython<|end_header_id|>\n\n" }}
        {{- message.content | tojson }}{{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %}
"#;

/// Its special tokens.
pub(crate) const LLAMA_MARKS: [&str; 4] =
    ["<|begin_of_text|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>"];

/// Mistral's first: no system or tool role, and strictly alternating user and assistant messages.
pub(crate) const MISTRAL: &str = "{{ bos_token }}{% for message in messages %}\
    {% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}\
    {% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}\
    {% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token }}\
    {% else %}{{ raise_exception('only users and models speak') }}{% endif %}{% endfor %}";

/// Returns `source`, changed to fail with its output if that contains `show me`.
pub(crate) fn shown(source: &str) -> String {
    format!(
        "{{% set written %}}{source}{{% endset %}}{{% if 'show me' in written %}}{{{{ raise_exception(written) }}}}\
        {{% endif %}}{{{{ written }}}}"
    )
}
